#!/usr/bin/env python3
"""A bill of materials (SPDX 2.3, JSON) of the programs named, from the Debian packages that they load and that are
compiled into them; with the licences of those packages as files beside it.

make_sbom.py NAME VERSION OUT.json LICENCE_DIR HEADER_LIST PROGRAM...

HEADER_LIST: a file with the headers that the compiler read, one per line. Time: SOURCE_DATE_EPOCH.
"""
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys


def lines_of(arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.splitlines()


def linked(program):
    """What the loader would load, by the paths it finds."""
    found = [match.group(1) for line in lines_of(["ldd", program]) if (match := re.search(r"=> (/\S+)", line))]
    if not found:
        sys.exit(f"make_sbom: ldd says nothing about {program}")
    return found


def loaded_when_asked():
    """What the programs load themselves (src/coordinator/store/libpq.cpp), by its path."""
    names = {"libpq.so.5"}
    found = {}
    for line in lines_of(["/sbin/ldconfig", "-p"]):
        name, _, path = line.strip().partition(" => ")
        if name.split(" ")[0] in names:
            found.setdefault(name.split(" ")[0], path)
    if names - found.keys():
        sys.exit(f"make_sbom: {', '.join(names - found.keys())} is not installed")
    return found.values()


def packages_of(files):
    """Debian package (with architecture) of each file that has one. Debian knows files by one of two names since /lib
    is a link, and real files rather than links to them."""
    names = {}
    for file in files:
        real = os.path.realpath(file)
        for name in {file, real, file.removeprefix("/usr"), real.removeprefix("/usr"), "/usr" + real}:
            names[name] = file
    packages = {}
    native = ":" + lines_of(["dpkg", "--print-architecture"])[0]
    known = sorted(names)
    for start in range(0, len(known), 1000):
        for line in lines_of(["dpkg-query", "-S", *known[start : start + 1000]]):
            owners, _, path = line.rpartition(": ")
            if path in names and not owners.startswith("diversion"):
                # Several where a package is installed for other architectures too: what is linked is this one's.
                owners = [owner.strip() for owner in owners.split(",")]
                packages[names[path]] = next((owner for owner in owners if owner.endswith(native)), owners[0])
    return packages


def facts(package):
    fields = "${Package}\n${Version}\n${Architecture}\n${source:Package}\n${Homepage}\n${Maintainer}\n"
    name, version, architecture, source, homepage, maintainer = (lines_of(["dpkg-query", "-W", "-f", fields, package]) + [""] * 6)[:6]
    return dict(name=name, version=version, architecture=architecture, source=source, homepage=homepage, maintainer=maintainer)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def spdx_id(prefix, name):
    return f"SPDXRef-{prefix}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def described(package):
    return {
        "SPDXID": spdx_id("Package", package["name"]),
        "name": package["name"],
        "versionInfo": package["version"],
        "supplier": "Organization: " + (package["maintainer"] or "Debian"),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": f"licences: licences/{package['name']}",
        **({"homepage": package["homepage"]} if package["homepage"] else {}),
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{package['name']}@{package['version']}?arch={package['architecture']}",
            }
        ],
    }


def main():
    name, version, out, licences, header_list, *programs = sys.argv[1:]
    loaded = {file for program in programs for file in linked(program)}
    for library in loaded_when_asked():
        loaded |= {library, *linked(library)}
    with open(header_list, encoding="utf-8") as file:
        headers = {line.strip() for line in file if line.strip()}
    owner_of = packages_of(loaded | headers)
    homeless = sorted(loaded - owner_of.keys())
    if homeless:
        sys.exit(f"make_sbom: no Debian package has {', '.join(homeless)}")
    dynamic = {owner_of[file] for file in loaded}
    compiled_in = {owner_of[file] for file in headers if file in owner_of} - dynamic
    known = {package: facts(package) for package in dynamic | compiled_in}

    os.makedirs(licences, exist_ok=True)
    for package in known.values():
        text = f"/usr/share/doc/{package['name']}/copyright"
        if not os.path.exists(text):
            sys.exit(f"make_sbom: {text} is missing: install {package['name']} again")
        shutil.copyfile(text, os.path.join(licences, package["name"]))

    product = {
        "SPDXID": "SPDXRef-Package-product",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
    }
    files = [
        {
            "SPDXID": spdx_id("File", os.path.basename(program)),
            "fileName": "./" + os.path.basename(program),
            "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(program)}],
            "licenseConcluded": "Apache-2.0",
            "copyrightText": "NOASSERTION",
        }
        for program in programs
    ]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])]
    relations += [(product["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files]
    for package in sorted(dynamic):
        relations.append((product["SPDXID"], "DYNAMIC_LINK", spdx_id("Package", known[package]["name"])))
    for package in sorted(compiled_in):
        relations.append((product["SPDXID"], "CONTAINS", spdx_id("Package", known[package]["name"])))

    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    identity = hashlib.sha256("".join(file["checksums"][0]["checksumValue"] for file in files).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{identity[:32]}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: make_sbom.py"]},
        "packages": [product] + [described(known[package]) for package in sorted(known)],
        "files": files,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
