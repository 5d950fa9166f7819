"""The files in docker/: parsed and checked, since no container engine runs in the tests."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pgs_neo4j.cli.run import BUSY
from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.config.schedule_table import entries
from pgs_neo4j.jobs.schedule import plan

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"
OTHERS = {"PGS_CONFIG"}
JOB = ["repartition", "--if-changed", "--graph"]


def text(name: str) -> str:
    return (DOCKER / name).read_text(encoding="utf-8")


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text(f"systemd/{name}"))
    return parser


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", text("Dockerfile"))
    lines = (line.strip() for line in joined.splitlines())
    return [
        (name.upper(), rest.strip())
        for name, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")
    ]


def stages() -> list[list[tuple[str, str]]]:
    stages_read: list[list[tuple[str, str]]] = []
    for name, rest in instructions():
        if name == "FROM":
            stages_read.append([])
        stages_read[-1].append((name, rest))
    return stages_read


def manifest(name: str) -> Any:
    return yaml.safe_load(text(name))


@pytest.fixture(scope="module")
def compose() -> Any:
    return manifest("compose.yaml")


def test_every_variable_of_ours_is_a_setting() -> None:
    variables = {
        f"PGS_{name.upper()}" for name in (*Settings.model_fields, *PGSConfig.model_fields)
    }
    used = {
        (path.name, name)
        for path in DOCKER.rglob("*")
        if path.is_file() and path.name != ".env"
        for name in re.findall(r"\bPGS_[A-Z0-9_]+", path.read_text(encoding="utf-8"))
    }
    assert used
    assert {name for _, name in used} <= variables | OTHERS, sorted(used)


def test_compose_runs_the_pinned_community_server_with_gds(compose: Any) -> None:
    server = compose["services"]["neo4j"]
    assert re.fullmatch(r"neo4j:5\.26\.\d+-community", server["image"])
    assert json.loads(server["environment"]["NEO4J_PLUGINS"]) == ["graph-data-science"]
    memory = [key for key in server["environment"] if key.startswith("NEO4J_server_memory_")]
    assert len(memory) == 3
    assert set(compose["volumes"]) == {mount.partition(":")[0] for mount in server["volumes"]}


def test_compose_publishes_on_loopback_only_and_has_no_password_of_its_own(compose: Any) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    server, job = compose["services"]["neo4j"], compose["services"]["pgs"]
    required = r"\$\{PGS_NEO4J_PASSWORD:\?[^}]+\}"
    assert re.fullmatch(f"neo4j/{required}", server["environment"]["NEO4J_AUTH"])
    assert re.fullmatch(required, job["environment"]["PGS_NEO4J_PASSWORD"])
    used = set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", text("compose.yaml")))
    assert used == set(re.findall(r"^([A-Z0-9_]+)=", text(".env.example"), re.MULTILINE))


def test_the_environment_files_fit_shell_and_systemd_and_hold_no_password() -> None:
    for name in (".env.example", "pgs.env.example"):
        lines = [line for line in text(name).splitlines() if line and line[0] != "#"]
        assert all(re.fullmatch(r"[A-Z0-9_]+=\S*", line) for line in lines)
        assert "PGS_NEO4J_PASSWORD=" in lines


def test_the_healthcheck_asks_gds_and_hides_the_password(compose: Any) -> None:
    check = compose["services"]["neo4j"]["healthcheck"]
    kind, command = check["test"]
    words = shlex.split(command.replace("$$", "$"))
    assert kind == "CMD-SHELL"
    assert words == [
        "NEO4J_USERNAME=neo4j",
        "NEO4J_PASSWORD=${NEO4J_AUTH#neo4j/}",
        "cypher-shell",
        "RETURN gds.version()",
    ]
    assert check["retries"] >= 1
    # The image turns its own NEO4J_* variables into settings, so these two must not be among them.
    assert not {"NEO4J_USERNAME", "NEO4J_PASSWORD"} & set(
        compose["services"]["neo4j"]["environment"]
    )


def test_the_job_waits_for_a_healthy_server(compose: Any) -> None:
    job = compose["services"]["pgs"]
    assert job["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert job["command"][:3] == JOB
    assert (ROOT / "docker" / job["build"]["context"] / job["build"]["dockerfile"]).samefile(
        DOCKER / "Dockerfile"
    )
    assert job["profiles"] == ["job"]


@pytest.mark.skipif(shutil.which("docker") is None, reason="no docker client is installed")
def test_docker_itself_accepts_the_compose_file() -> None:
    client = ["docker", "compose", "--file", str(DOCKER / "compose.yaml")]
    if subprocess.run([*client, "version"], capture_output=True, check=False).returncode:
        pytest.skip("the docker client has no compose plugin")
    arguments = [*client, "--profile", "job", "config", "--quiet"]
    values = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PGS_NEO4J_PASSWORD": "only-for-this-test"}
    done = subprocess.run(arguments, env=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused = subprocess.run(
        arguments, env={"PATH": values["PATH"]}, capture_output=True, check=False
    )
    assert refused.returncode != 0


def test_the_image_is_built_from_pinned_tags_and_runs_pgs_without_privileges() -> None:
    froms = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert len(froms) == 2
    assert all(re.fullmatch(r"python:3\.1[1-9]\.\d+-slim-\w+", image) for image in froms)
    last = dict(stages()[-1])
    assert json.loads(last["ENTRYPOINT"]) == ["pgs"]
    assert json.loads(last["CMD"]) == ["--help"]
    assert all(int(number) >= 10000 for number in last["USER"].split(":"))
    names = [name for name, _ in stages()[-1]]
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("RUN", "COPY"))


def test_every_copied_file_exists_and_reaches_the_builder() -> None:
    sources: list[str] = []
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            sources += rest.split()[:-1]
    allowed = {line[1:] for line in text("Dockerfile.dockerignore").splitlines() if line[:1] == "!"}
    assert sources
    assert all((ROOT / source).exists() for source in sources)
    assert set(sources) == allowed
    assert "*" in text("Dockerfile.dockerignore").splitlines()


def test_dependencies_have_a_layer_of_their_own() -> None:
    build = stages()[0]
    installs = [i for i, (name, rest) in enumerate(build) if name == "RUN" and "install" in rest]
    package = build.index(("COPY", "pgs_neo4j ./pgs_neo4j"))
    assert installs[0] < package < installs[-1]
    assert "--no-deps" in build[installs[-1]][1]


def test_the_crontab_has_one_good_line() -> None:
    lines = [
        line
        for line in text("cron/pgs-partition").splitlines()
        if line and not line.startswith("#") and not re.match(r"[A-Z]+=", line)
    ]
    (line,) = lines
    *fields, user, command = line.split(None, 6)
    highest = (59, 23, 31, 12, 7)
    assert all(f == "*" or int(f) <= limit for f, limit in zip(fields, highest, strict=True))
    assert user == "pgs"
    assert "%" not in command  # cron ends the line there
    assert [word for word in shlex.split(command) if word in JOB] == JOB
    assert "flock" not in command  # the lease in the database does it, across machines
    assert text("cron/pgs-partition").endswith("\n")  # cron ignores a last line without it


def test_a_timer_lets_the_service_run_the_job_once_as_its_own_user() -> None:
    service = unit("pgs-partition.service")["Service"]
    assert (service["Type"], service["User"]) == ("oneshot", "pgs")
    program, *arguments = shlex.split(service["ExecStart"])
    assert program == "/opt/pgs/bin/pgs"
    assert arguments == [*JOB, "${PGS_GRAPH}", "--json"]
    assert service["SuccessExitStatus"] == str(BUSY)
    assert service["EnvironmentFile"] == "/etc/pgs/pgs.env"
    assert service["TimeoutStartSec"] != "infinity"
    timer = unit("pgs-partition.timer")
    assert re.fullmatch(r"\*-\*-\* [0-2]\d:[0-5]\d:00", timer["Timer"]["OnCalendar"])
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_the_cronjob_never_overlaps_and_ends() -> None:
    cronjob = manifest("kubernetes/cronjob.yaml")
    assert (cronjob["apiVersion"], cronjob["kind"]) == ("batch/v1", "CronJob")
    spec, job = cronjob["spec"], cronjob["spec"]["jobTemplate"]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert len(spec["schedule"].split()) == 5
    assert job["backoffLimit"] <= 2
    (rule,) = job["podFailurePolicy"]["rules"]
    assert rule == {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [BUSY]}}
    assert 0 < job["activeDeadlineSeconds"] < 86400
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_the_cronjob_runs_the_image_as_it_was_built_with_a_password_from_a_secret(
    compose: Any,
) -> None:
    pod = manifest("kubernetes/cronjob.yaml")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {variable["name"]: variable for variable in container["env"]}
    assert set(variables["PGS_NEO4J_PASSWORD"]) == {"name", "valueFrom"}
    assert "secretKeyRef" in variables["PGS_NEO4J_PASSWORD"]["valueFrom"]
    assert container["args"][:4] == [*JOB, "$(PGS_GRAPH)"]
    assert "PGS_GRAPH" in variables
    assert container["resources"]["limits"]["memory"]
    assert container["image"] == compose["services"]["pgs"]["image"]
    user = int(dict(stages()[-1])["USER"].partition(":")[0])
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]) == (
        user, True,
    )  # fmt: skip
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_the_scheduler_keeps_a_schedule_and_runs_the_image(compose: Any) -> None:
    settings, deployment = yaml.safe_load_all(text("kubernetes/scheduler.yaml"))
    values = tomllib.loads(settings["data"]["pgs.toml"])
    planned = plan(entries(values.pop("schedule")))
    assert [item.entry.target for item in planned] == ["all graphs", "graph knowledge"]
    assert set(values) <= {*Settings.model_fields, *PGSConfig.model_fields}
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert container["args"] == ["schedule", "--json"]
    assert container["image"] == compose["services"]["pgs"]["image"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    variables = {variable["name"]: variable for variable in container["env"]}
    assert variables["PGS_CONFIG"]["value"] == "/etc/pgs/pgs.toml"
    assert "secretKeyRef" in variables["PGS_NEO4J_PASSWORD"]["valueFrom"]
    (source,) = (item["configMap"] for item in pod["volumes"] if "configMap" in item)
    assert source["name"] == settings["metadata"]["name"]
