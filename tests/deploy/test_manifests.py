"""The files that put a bot into a container, a cluster or a unit: well-formed, and closed to whatever it does not need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from bot.credentials import CREDENTIALS

DEPLOY = Path(__file__).parents[2] / "deploy"
CLUSTER = DEPLOY / "kubernetes"
KUBERNETES = "1.31"
"""The oldest version that the manifests are written for."""


def documents(path):
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def resources():
    paths = [path for path in sorted(CLUSTER.glob("*.yaml")) if path.name != "kustomization.yaml"]
    return [pytest.param(one, id=f"{path.stem}-{one['kind']}") for path in paths for one in documents(path)]


def pods():
    return [
        one.values[0]["spec"]["template"]["spec"] for one in resources() if "template" in one.values[0].get("spec", {})
    ]


@pytest.fixture(scope="module")
def compose():
    return documents(DEPLOY / "compose.yaml")[0]


@pytest.mark.parametrize("resource", resources())
def test_a_resource_is_one_that_the_cluster_knows(resource):
    # The validator names what it found by its name, which a job gets only in the cluster.
    named = {**resource, "metadata": {"name": "generated", **resource["metadata"]}}
    kubernetes_validate.validate(named, KUBERNETES, strict=True)


def test_the_kustomization_names_every_resource_but_the_job():
    listed = set(documents(CLUSTER / "kustomization.yaml")[0]["resources"])
    there = {path.name for path in CLUSTER.glob("*.yaml")}
    assert there - listed == {"kustomization.yaml", "ingest-job.yaml"}
    assert listed <= there


def test_every_pod_is_without_rights_and_reads_its_own_files_only():
    assert len(pods()) == 3
    for pod in pods():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] is True
            assert rights["allowPrivilegeEscalation"] is False
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= set(container["resources"])


def test_the_cluster_kills_a_bot_for_nothing_that_a_restart_does_not_mend():
    (container,) = next(pod for pod in pods() if pod["containers"][0]["name"] == "bot")["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_no_manifest_holds_a_secret_and_the_bot_can_be_given_each():
    (container,) = next(pod for pod in pods() if pod["containers"][0]["name"] == "bot")["containers"]
    given = {one["name"]: one for one in container["env"]}
    assert set(given) == set(CREDENTIALS)
    assert all("secretKeyRef" in one["valueFrom"] for one in given.values())


def test_policies_select_every_pod():
    policies = [one.values[0] for one in resources() if one.values[0]["kind"] == "NetworkPolicy"]
    chosen = set()
    for policy in policies:
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
        selector = policy["spec"]["podSelector"]
        chosen |= {selector["matchLabels"].get("app.kubernetes.io/component", "")}
        chosen |= {value for one in selector.get("matchExpressions", ()) for value in one["values"]}
    labelled = {
        one.values[0]["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
        for one in resources()
        if "template" in one.values[0].get("spec", {})
    }
    assert labelled == chosen - {""}


def test_every_container_is_without_rights_on_a_file_system_that_cannot_be_written(compose):
    for service in compose["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "healthcheck" in service or service["image"].startswith("gaplight")


def test_only_the_bot_can_be_reached_and_only_from_this_machine(compose):
    ports = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert ports == {"bot": ["127.0.0.1:8080:8080"]}
    assert compose["networks"]["inside"] == {"internal": True}
    for name in ("postgres", "chroma"):
        assert compose["services"][name]["networks"] == ["inside"]


def test_every_secret_is_a_file_that_the_script_makes(compose, tmp_path):
    bot = compose["services"]["bot"]
    files = {
        name: f"/run/secrets/{name.removesuffix('_FILE').lower()}" for name in bot["environment"] if "_FILE" in name
    }
    assert {name.removesuffix("_FILE") for name in files} == set(CREDENTIALS)
    assert {name: bot["environment"][name] for name in files} == files
    assert set(bot["secrets"]) == {Path(path).name for path in files.values()}
    deploy = tmp_path / "deploy"
    (tmp_path / "bot" / "data").mkdir(parents=True)
    (tmp_path / "bot" / "data" / "gaplight.toml").write_text("")
    deploy.mkdir()
    (deploy / "make-secrets.sh").write_bytes((DEPLOY / "make-secrets.sh").read_bytes())
    for _ in range(2):  # a second run changes nothing
        subprocess.run(["/bin/sh", str(deploy / "make-secrets.sh")], check=True, capture_output=True)
        made = {path.name: path.read_text() for path in (deploy / "secrets").iterdir()}
        assert set(made) == set(compose["secrets"])
        password = made["postgres_password"].strip()
        assert len(password) == 48
        assert made["database_url"].strip() == f"postgresql://gaplight:{password}@postgres/gaplight"


def test_the_image_runs_as_nobody_in_particular_and_leaves_torch_behind():
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    stages = text.split("\nFROM ")
    assert stages[-1].startswith("${PYTHON} AS runtime")
    assert "torch" not in stages[-1]
    assert "pip install" not in stages[-1]
    assert "USER 10001:10001" in stages[-1]
    assert "HEALTHCHECK" in stages[-1]
    assert all(stage.startswith(("${PYTHON} AS", "environment AS")) for stage in stages[1:])
