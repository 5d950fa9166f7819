"""The files in docker/: parsed and checked, since no container engine runs in the tests."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.run import BUSY
from pgs_neo4j.config import PGSConfig, Settings, TokenEntry
from pgs_neo4j.config.schedule_table import entries
from pgs_neo4j.engine.schedule import plan
from pgs_neo4j.web.access.guard import MOST_BODY, MOST_CHAT, UPLOADS, served_hosts
from pgs_neo4j.web.serve import ServeOptions, check_options

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"
SETTINGS = {*Settings.model_fields, *PGSConfig.model_fields}
JOB = ["repartition", "--if-changed", "--graph"]
TOKEN = TokenEntry(name="ann", sha256="0" * 64, role="asker")
HOST = "graphs.example.org"


def text(name: str) -> str:
    return (DOCKER / name).read_text(encoding="utf-8")


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text(f"systemd/{name}"))
    return parser


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of the Dockerfile, by stage."""
    stages_read: list[list[tuple[str, str]]] = []
    for line in re.sub(r"\\\n", " ", text("Dockerfile")).splitlines():
        name, _, rest = line.strip().partition(" ")
        if not name or name[0] == "#":
            continue
        if name == "FROM":
            stages_read.append([])
        stages_read[-1].append((name, rest.strip()))
    return stages_read


def kubernetes(name: str) -> dict[str, Any]:
    """The objects of a file, by kind."""
    return {one["kind"]: one for one in yaml.safe_load_all(text(f"kubernetes/{name}.yaml"))}


def serving(words: Sequence[str], *tokens: TokenEntry) -> tuple[ServeOptions, frozenset[str]]:
    """The good options of a command line, taken by the real parser, and the hosts they serve."""
    root: Any = typer.main.get_command(app)
    after = list(words)[list(words).index("serve") + 1 :]
    with root.make_context("pgs", list(words), resilient_parsing=True) as outer:
        assert outer.params["log_format"] == "json"
        command = root.get_command(outer, "serve")
        with command.make_context("serve", after, parent=outer) as inner:
            given = dict(inner.params)
    options = ServeOptions(
        host=given["host"],
        port=given["port"],
        allow_hosts=tuple(given["allow_host"] or ()),
        proxies=tuple(given["trust_proxy"] or ()),
    )
    check_options(options, tokens)
    return options, served_hosts(options.host, options.port, options.allow_hosts)


@pytest.fixture(scope="module")
def services() -> Any:
    return yaml.safe_load(text("compose.yaml"))["services"]


def test_every_variable_of_ours_is_a_setting() -> None:
    used = {
        name
        for path in DOCKER.rglob("*")
        if path.is_file() and path.name != ".env"
        for name in re.findall(r"\bPGS_[A-Z0-9_]+", path.read_text(encoding="utf-8"))
    }
    assert used > {"PGS_CONFIG", "PGS_NEO4J_PASSWORD"}
    assert used <= {f"PGS_{name.upper()}" for name in SETTINGS} | {"PGS_CONFIG"}


def test_compose_runs_the_pinned_server_on_loopback_with_a_password_from_outside(
    services: Any,
) -> None:
    server, required = services["neo4j"], r"\$\{PGS_NEO4J_PASSWORD:\?[^}]+\}"
    assert re.fullmatch(r"neo4j:5\.26\.\d+-community", server["image"])
    assert json.loads(server["environment"]["NEO4J_PLUGINS"]) == ["graph-data-science"]
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert re.fullmatch(f"neo4j/{required}", server["environment"]["NEO4J_AUTH"])
    for name in ("pgs", "serve"):
        assert re.fullmatch(required, services[name]["environment"]["PGS_NEO4J_PASSWORD"])
        assert services[name]["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
        build = services[name]["build"]
        assert (DOCKER / build["context"] / build["dockerfile"]).samefile(DOCKER / "Dockerfile")
    used = set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", text("compose.yaml")))
    assert used == set(re.findall(r"^([A-Z0-9_]+)=", text(".env.example"), re.MULTILINE))
    assert services["pgs"]["command"][:3] == JOB


def test_the_healthcheck_asks_gds_and_hides_the_password(services: Any) -> None:
    kind, command = services["neo4j"]["healthcheck"]["test"]
    assert (kind, shlex.split(command.replace("$$", "$"))) == (
        "CMD-SHELL",
        ["NEO4J_USERNAME=neo4j", "NEO4J_PASSWORD=${NEO4J_AUTH#neo4j/}", "cypher-shell",
         "RETURN gds.version()"],
    )  # fmt: skip
    # The image turns its own NEO4J_* variables into settings, so these two must not be among them.
    assert not {"NEO4J_USERNAME", "NEO4J_PASSWORD"} & {*services["neo4j"]["environment"]}


def test_the_environment_files_fit_shell_and_systemd_and_hold_no_password() -> None:
    for name in (".env.example", "pgs.env.example"):
        lines = [line for line in text(name).splitlines() if line and line[0] != "#"]
        assert all(re.fullmatch(r"[A-Z0-9_]+=\S*", line) for line in lines)
        assert "PGS_NEO4J_PASSWORD=" in lines


def test_compose_serves_this_machine(services: Any) -> None:
    compose = services["serve"]
    options, hosts = serving(compose["command"], TOKEN)
    assert {"127.0.0.1:7475", "localhost:7475"} <= hosts
    assert compose["ports"] == [f"127.0.0.1:{options.port}:{options.port}"]
    config, place, mode = compose["volumes"][0].split(":")
    assert (config, place, mode) == ("./pgs.toml", compose["environment"]["PGS_CONFIG"], "ro")
    assert "http://127.0.0.1:7475/api/health" in compose["healthcheck"]["test"][-1]
    compile(compose["healthcheck"]["test"][-1], "healthcheck", "exec")


def test_the_image_is_built_from_pinned_tags_and_runs_pgs_without_privileges() -> None:
    build, last = stages()
    for name, image in (build[0], last[0]):
        assert name == "FROM"
        assert re.match(r"python:3\.1[1-9]\.\d+-slim-\w+", image)
    told = dict(last)
    assert (json.loads(told["ENTRYPOINT"]), json.loads(told["CMD"])) == (["pgs"], ["--help"])
    assert all(int(number) >= 10000 for number in told["USER"].split(":"))
    names = [name for name, _ in last]
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("RUN", "COPY"))


def test_the_image_can_serve_and_its_dependencies_have_a_layer_of_their_own() -> None:
    build = stages()[0]
    installs = [i for i, (name, rest) in enumerate(build) if name == "RUN" and "install" in rest]
    assert installs[0] < build.index(("COPY", "pgs_neo4j ./pgs_neo4j")) < installs[-1]
    assert "--no-deps" in build[installs[-1]][1]
    (extras,) = [rest for name, rest in build if name == "RUN" and "tomllib" in rest]
    assert all(f"more['{extra}']" in extras for extra in ("serve", "mcp", "otel"))
    assert "local" not in extras


def test_every_copied_file_exists_and_reaches_the_builder() -> None:
    sources = {
        source
        for name, rest in [*stages()[0], *stages()[1]]
        if name == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    ignored = text("Dockerfile.dockerignore").splitlines()
    assert "*" in ignored
    assert sources == {line[1:] for line in ignored if line[:1] == "!"} != set()
    assert all((ROOT / source).exists() for source in sources)


def test_the_crontab_has_one_good_line() -> None:
    written = text("cron/pgs-partition")
    (line,) = re.findall(r"^[^#\nA-Z].*", written, re.MULTILINE)
    *fields, user, command = line.split(None, 6)
    highest = (59, 23, 31, 12, 7)
    assert all(f == "*" or int(f) <= limit for f, limit in zip(fields, highest, strict=True))
    assert user == "pgs"
    assert "%" not in command  # cron ends the line there
    assert [word for word in shlex.split(command) if word in JOB] == JOB
    assert "flock" not in command  # the lease in the database does it, across machines
    assert written.endswith("\n")  # cron ignores a last line without it


def test_systemd_runs_the_job_by_a_timer_and_serves_loopback_to_a_proxy() -> None:
    job, server = (unit(f"pgs-{name}.service")["Service"] for name in ("partition", "serve"))
    for service, kind in ((job, "oneshot"), (server, "exec")):
        assert (service["Type"], service["User"]) == (kind, "pgs")
        assert service["EnvironmentFile"] == "/etc/pgs/pgs.env"
        assert service["NoNewPrivileges"] == "yes"
    program, *arguments = shlex.split(job["ExecStart"])
    assert (program, arguments) == ("/opt/pgs/bin/pgs", [*JOB, "${PGS_GRAPH}", "--json"])
    assert job["SuccessExitStatus"] == str(BUSY)
    assert job["TimeoutStartSec"] != "infinity"
    timer = unit("pgs-partition.timer")
    assert re.fullmatch(r"\*-\*-\* [0-2]\d:[0-5]\d:00", timer["Timer"]["OnCalendar"])
    assert timer["Install"]["WantedBy"] == "timers.target"
    program, *words = shlex.split(server["ExecStart"])
    options, hosts = serving(words)
    assert (program, options.proxies) == ("/opt/pgs/bin/pgs", ("127.0.0.1",))
    assert HOST in hosts


@pytest.mark.parametrize("name", ["cronjob", "scheduler", "serve"])
def test_kubernetes_runs_the_image_as_it_was_built_with_a_password_from_a_secret(
    services: Any, name: str
) -> None:
    objects = kubernetes(name)
    pod = objects.get("Deployment") or objects["CronJob"]["spec"]["jobTemplate"]
    spec = pod["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    variables = {variable["name"]: variable for variable in container["env"]}
    password = variables["PGS_NEO4J_PASSWORD"]
    assert ({*password}, {*password["valueFrom"]}) == ({"name", "valueFrom"}, {"secretKeyRef"})
    assert container["resources"]["limits"]["memory"]
    assert container["image"] == services["pgs"]["image"] == services["serve"]["image"]
    user = int(dict(stages()[-1])["USER"].partition(":")[0])
    assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsNonRoot"]) == (
        user, True,
    )  # fmt: skip
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    if name == "cronjob":
        return
    assert (pod["spec"]["replicas"], pod["spec"]["strategy"]) == (1, {"type": "Recreate"})
    labels = pod["spec"]["template"]["metadata"]["labels"]
    assert pod["spec"]["selector"]["matchLabels"] == labels
    assert variables["PGS_CONFIG"]["value"] == "/etc/pgs/pgs.toml"
    (source,) = [one for one in spec["volumes"] if "configMap" in one or "secret" in one]
    if name == "serve":
        assert source["secret"]["secretName"] == "pgs-serve"
    else:
        assert source["configMap"]["name"] == objects["ConfigMap"]["metadata"]["name"]


def test_the_cronjob_never_overlaps_and_ends() -> None:
    spec = kubernetes("cronjob")["CronJob"]["spec"]
    job = spec["jobTemplate"]["spec"]
    pod = job["template"]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert len(spec["schedule"].split()) == 5
    assert job["backoffLimit"] <= 2
    (rule,) = job["podFailurePolicy"]["rules"]
    assert rule == {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [BUSY]}}
    assert 0 < job["activeDeadlineSeconds"] < 86400
    assert pod["restartPolicy"] == "Never"
    assert pod["containers"][0]["args"][:4] == [*JOB, "$(PGS_GRAPH)"]


def test_the_scheduler_keeps_a_schedule() -> None:
    objects = kubernetes("scheduler")
    values = tomllib.loads(objects["ConfigMap"]["data"]["pgs.toml"])
    planned = plan(entries(values.pop("schedule")))
    assert [item.entry.target for item in planned] == ["all graphs", "graph knowledge"]
    assert {*values} <= SETTINGS
    (container,) = objects["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["schedule", "--json"]


def test_kubernetes_and_prometheus_ask_under_names_that_are_served() -> None:
    objects = kubernetes("serve")
    spec = objects["Deployment"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    options, hosts = serving(container["args"], TOKEN)
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["httpGet"]
        (header,) = probe["httpHeaders"]
        assert (probe["path"], header["name"]) == ("/api/health", "Host")
        assert header["value"] in hosts
    (port,) = container["ports"]
    assert (port["name"], port["containerPort"]) == ("http", options.port)
    service = objects["Service"]["spec"]
    assert service["ports"][0]["targetPort"] == "http"
    assert service["selector"] == spec["template"]["metadata"]["labels"]
    (job,) = yaml.safe_load(text("prometheus.yml"))["scrape_configs"]
    assert {*job["static_configs"][0]["targets"]} <= hosts
    assert (job["metrics_path"], {*job["authorization"]}) == ("/metrics", {"credentials_file"})


def test_nginx_names_its_clients_and_takes_bodies_as_large_as_the_server_does() -> None:
    written = text("proxy/nginx.conf")
    general, _, uploads = written.partition("location ~ ")
    pattern, _, block = uploads.partition(" {")
    most, most_file = (
        int(re.findall(r"client_max_body_size (\d+)m;", part)[0]) * 2**20
        for part in (general, block.partition("}")[0])
    )
    assert most == MOST_CHAT > MOST_BODY
    assert 0 <= most_file - PGSConfig().max_document_mb * 1e6 < 10e6
    for path in ("/api/graphs/docs/uploads", "/api/graphs/my%20docs/uploads"):
        assert re.search(pattern, path)
        assert UPLOADS.fullmatch(path)
    assert not re.search(pattern, "/api/graphs/docs/uploads/x")
    assert written.count("proxy_pass http") == 2
    for name, value in (("For", "$remote_addr"), ("Proto", "$scheme")):
        assert f"proxy_set_header X-Forwarded-{name} {value};" in written


@pytest.mark.parametrize(
    ("name", "at_once", "closed"),
    [("Caddyfile", "flush_interval -1", "path /metrics"),
     ("nginx.conf", "proxy_buffering off;", "location = /metrics")],
)  # fmt: skip
def test_a_proxy_passes_events_on_at_once_and_hides_the_metrics(
    name: str, at_once: str, closed: str
) -> None:
    written = text(f"proxy/{name}")
    assert at_once in written
    assert closed in written
    assert HOST in written
    assert {*re.findall(r"127\.0\.0\.1:(\d+)", written)} == {str(ServeOptions().port)}
    assert written.count("{") == written.count("}")
