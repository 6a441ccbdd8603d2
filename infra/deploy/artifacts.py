"""Checks what `sam build` made: python artifacts.py TEMPLATE BUILD_DIR

Every function of the template must have a static arm64 ELF file `bootstrap`,
executable, with nothing beside it, in a zip of at most MAX_ZIP bytes.
"""

import io
import os
import struct
import sys
import zipfile

from samcli.yamlhelper import yaml_parse

# A zip is unpacked at every cold start; ours are far below, so a jump means that
# something heavy was linked.
MAX_ZIP = 6 * 1024 * 1024

EM_AARCH64 = 183  # e_machine of the ELF header
PT_INTERP = 3  # a program header that asks for a dynamic loader


def functions(path):
    """The logical ids of the template's functions."""
    with open(path, encoding="utf-8") as f:
        resources = yaml_parse(f.read())["Resources"]
    return sorted(k for k, r in resources.items() if r["Type"] == "AWS::Serverless::Function")


def elf_problem(data):
    """Why the file is no static arm64 program, or None."""
    if data[:4] != b"\x7fELF":
        return "not an ELF file"
    if data[4:6] != b"\x02\x01":
        return "not a 64-bit little-endian file"
    (machine,) = struct.unpack_from("<H", data, 18)
    if machine != EM_AARCH64:
        return f"machine {machine}, want {EM_AARCH64} (arm64)"
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        if struct.unpack_from("<I", data, table + i * size)[0] == PT_INTERP:
            return "dynamically linked"
    return None


def problem(folder):
    """(why the function's folder cannot be deployed or None, bytes of its zip)."""
    path = os.path.join(folder, "bootstrap")
    if not os.path.isfile(path):
        return "no bootstrap", 0
    if extra := sorted(set(os.listdir(folder)) - {"bootstrap"}):
        return f"files beside bootstrap: {', '.join(extra)}", 0
    if not os.access(path, os.X_OK):
        return "bootstrap is not executable", 0
    with open(path, "rb") as f:
        data = f.read()
    if why := elf_problem(data):
        return f"bootstrap: {why}", 0
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("bootstrap", data)
    size = zipped.tell()
    if size > MAX_ZIP:
        return f"zip of {size} bytes, at most {MAX_ZIP} are allowed", size
    return None, size


def main(template, build):
    names = functions(template)
    if not names:
        sys.exit(f"FAIL  {template} has no function")
    failed = False
    for name in names:
        why, size = problem(os.path.join(build, name))
        if why:
            print(f"FAIL  {name}: {why}", file=sys.stderr)
            failed = True
        else:
            print(f"ok    {name}: static arm64 bootstrap, zip {size / 2**20:.2f} MiB of at most {MAX_ZIP / 2**20:.0f}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
