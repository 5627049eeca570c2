"""Reads a safetensors file by the library of the format, and writes one. Arguments: the file to read, the file to write."""

import ctypes
import json
import sys

from safetensors import TensorSpec, deserialize, serialize

types = {"I64": "int64", "F64": "float64", "F32": "float32", "I32": "int32", "BF16": "bfloat16"}
types |= {"F16": "float16", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool"}

source, target = sys.argv[1:]
with open(source, "rb") as file:
    tensors = deserialize(file.read())

report = {name: [tensor["dtype"], tensor["shape"], bytes(tensor["data"]).hex()] for name, tensor in tensors}
print(json.dumps(report))

memory = {name: ctypes.create_string_buffer(bytes(tensor["data"])) for name, tensor in tensors}
specs = {
    name: TensorSpec(
        dtype=types[tensor["dtype"]],
        shape=tensor["shape"],
        data_ptr=ctypes.addressof(memory[name]),
        data_len=len(tensor["data"]),
    )
    for name, tensor in tensors
}
with open(target, "wb") as file:
    file.write(serialize(specs, {"by": "python"}))
