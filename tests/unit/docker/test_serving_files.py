"""The files that serve: what they start exists, is bounded, and reaches only whom it should."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

import pytest
import typer
import yaml

from pgs_neo4j.cli.app import app
from pgs_neo4j.config import PGSConfig, TokenEntry
from pgs_neo4j.web.access.guard import MOST_BODY, MOST_CHAT, UPLOADS, served_hosts
from pgs_neo4j.web.serve import ServeOptions, check_options
from tests.unit.docker.test_docker_files import instructions, stages, text, unit

HOST = "graphs.example.org"


def serving(words: Sequence[str]) -> ServeOptions:
    """The options of a command line, taken by the real parser."""
    root: Any = typer.main.get_command(app)
    after = list(words)[list(words).index("serve") + 1 :]
    with root.make_context("pgs", list(words), resilient_parsing=True) as outer:
        assert outer.params["log_format"] == "json"
        command = root.get_command(outer, "serve")
        with command.make_context("serve", after, parent=outer) as inner:
            given = dict(inner.params)
    return ServeOptions(
        host=given["host"],
        port=given["port"],
        allow_hosts=tuple(given["allow_host"] or ()),
        proxies=tuple(given["trust_proxy"] or ()),
    )


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load(text("compose.yaml"))["services"]["serve"]


@pytest.fixture(scope="module")
def kubernetes() -> Any:
    deployment, service = yaml.safe_load_all(text("kubernetes/serve.yaml"))
    return deployment, service


def token() -> TokenEntry:
    return TokenEntry(name="ann", sha256="0" * 64)


def test_compose_serves_this_machine(compose: Any) -> None:
    options = serving(compose["command"])
    check_options(options, (token(),))
    hosts = served_hosts(options.host, options.port, options.allow_hosts)
    assert {"127.0.0.1:7475", "localhost:7475"} <= hosts
    assert compose["ports"] == [f"127.0.0.1:{options.port}:{options.port}"]
    assert compose["environment"]["PGS_CONFIG"] == compose["volumes"][0].split(":")[1]
    assert compose["volumes"][0].endswith(":ro")
    assert "http://127.0.0.1:7475/api/health" in compose["healthcheck"]["test"][-1]
    compile(compose["healthcheck"]["test"][-1], "healthcheck", "exec")


def test_the_image_can_serve() -> None:
    (install,) = [rest for name, rest in stages()[0] if name == "RUN" and "tomllib" in rest]
    assert all(f"more['{extra}']" in install for extra in ("serve", "mcp", "otel"))
    assert "local" not in install
    assert dict(instructions())["ENTRYPOINT"] == '["pgs"]'


def test_kubernetes_serves_one_process_under_its_names(kubernetes: Any) -> None:
    deployment, service = kubernetes
    spec = deployment["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    options = serving(container["args"])
    check_options(options, (token(),))
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    hosts = served_hosts(options.host, options.port, options.allow_hosts)
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["httpGet"]
        assert probe["path"] == "/api/health"
        (header,) = probe["httpHeaders"]
        assert (header["name"], header["value"] in hosts) == ("Host", True)
    (port,) = container["ports"]
    assert (port["name"], port["containerPort"]) == ("http", options.port)
    assert service["spec"]["ports"][0]["targetPort"] == "http"
    assert service["spec"]["selector"] == spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]


def test_kubernetes_takes_passwords_and_tokens_from_secrets(kubernetes: Any) -> None:
    pod = kubernetes[0]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {variable["name"]: variable for variable in container["env"]}
    assert "secretKeyRef" in variables["PGS_NEO4J_PASSWORD"]["valueFrom"]
    assert variables["PGS_CONFIG"]["value"] == "/etc/pgs/pgs.toml"
    assert [item["secret"]["secretName"] for item in pod["volumes"] if "secret" in item] == [
        "pgs-serve"
    ]
    assert pod["securityContext"]["runAsUser"] == int(dict(stages()[-1])["USER"].split(":")[0])
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_prometheus_asks_under_a_name_that_is_served(kubernetes: Any) -> None:
    (job,) = yaml.safe_load(text("prometheus.yml"))["scrape_configs"]
    (container,) = kubernetes[0]["spec"]["template"]["spec"]["containers"]
    options = serving(container["args"])
    (target,) = job["static_configs"][0]["targets"]
    assert target in served_hosts(options.host, options.port, options.allow_hosts)
    assert job["metrics_path"] == "/metrics"
    assert set(job["authorization"]) == {"credentials_file"}


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


def test_the_service_serves_loopback_to_a_proxy() -> None:
    service = unit("pgs-serve.service")["Service"]
    program, *words = shlex.split(service["ExecStart"])
    options = serving(words)
    check_options(options, ())
    assert program == "/opt/pgs/bin/pgs"
    assert HOST in served_hosts(options.host, options.port, options.allow_hosts)
    assert options.proxies == ("127.0.0.1",)
    assert (service["Type"], service["User"]) == ("exec", "pgs")
    assert service["EnvironmentFile"] == "/etc/pgs/pgs.env"
    assert service["NoNewPrivileges"] == "yes"


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
