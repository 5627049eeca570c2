/** What libraries for protobuf make their message types of: the types of a schema, a file for each package. */
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ProtoSchema } from "../../schemas/protobuf/descriptor.js";
import { type DescribedFile, descriptorSet } from "../../schemas/protobuf/descriptor-set/index.js";
import { wellKnownFileOf } from "../../schemas/protobuf/well-known-files.js";

/** All types of a schema, and those of protobuf itself that it refers to. */
export function registryOf(schema: ProtoSchema): FileRegistry {
  const names = [...schema.messages.keys(), ...schema.enums.keys(), ...schema.services.keys()];
  const files = [...new Set(names.map(packageOf))].sort().map((name) => fileOf(name, schema));
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet(importsFirst(files), schema)));
}

function importsFirst(files: readonly DescribedFile[]): readonly DescribedFile[] {
  const ordered: DescribedFile[] = [];
  const seen = new Set<DescribedFile>();
  const add = (file: DescribedFile): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const other of files) if (file.imports.includes(other.path)) add(other);
    ordered.push(file);
  };
  files.forEach(add);
  return ordered;
}

function fileOf(packageName: string, { messages, enums, services }: ProtoSchema): DescribedFile {
  const own = (names: Iterable<string>) => [...names].filter((name) => packageOf(name) === packageName);
  const named = own(messages.keys()).flatMap((name) =>
    (messages.get(name)?.fields ?? []).flatMap(({ type }) => (type.kind === "scalar" ? [] : [type.name])),
  );
  const called = own(services.keys()).flatMap((name) =>
    (services.get(name)?.methods ?? []).flatMap(({ request, response }) => [request, response]),
  );
  const imports = [...named, ...called]
    .filter((name) => packageOf(name) !== packageName)
    .map((name) => wellKnownFileOf(name) ?? pathOf(packageOf(name)));
  return {
    path: pathOf(packageName),
    package: packageName,
    imports: [...new Set(imports)].sort(),
    messages: own(messages.keys()),
    enums: own(enums.keys()),
    services: own(services.keys()),
  };
}

function packageOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf("."), 0));
}

function pathOf(packageName: string): string {
  return `${packageName.replaceAll(".", "/") || "types"}.proto`;
}
