/**
 * Builds the registry from which protobuf libraries make message types: all types of a schema, in one file per package.
 */
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { namespaceOf } from "../../shared/names/qualified-name.js";
import { type DescribedFile, writeDescriptorSet } from "../../shared/protobuf/descriptor-set/index.js";
import { handlePackage } from "../../shared/protobuf/names.js";
import type { ProtoSchema } from "../../shared/protobuf/proto-schema.js";
import { wellKnownFileOf } from "../../shared/protobuf/well-known-files.js";

/** Returns a registry of all types of a schema, and of the protobuf types to which they refer. */
export function createTypeRegistry(schema: ProtoSchema): FileRegistry {
  const names = [...schema.messages.keys(), ...schema.enums.keys(), ...schema.services.keys()];
  const packageOf = packageResolver(schema);
  const files = [...new Set(names.map(packageOf))].sort().map((name) => describeFile(name, schema, packageOf));
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, writeDescriptorSet(sortByImports(files), schema)));
}

function sortByImports(files: readonly DescribedFile[]): readonly DescribedFile[] {
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

function describeFile(
  packageName: string,
  { messages, enums, services }: ProtoSchema,
  packageOf: (name: string) => string,
): DescribedFile {
  const own = (names: Iterable<string>) => [...names].filter((name) => packageOf(name) === packageName);
  const named = own(messages.keys()).flatMap((name) =>
    (messages.get(name)?.fields ?? []).flatMap(({ type }) => (type.kind === "scalar" ? [] : [type.name])),
  );
  const called = own(services.keys()).flatMap((name) =>
    (services.get(name)?.methods ?? []).flatMap(({ request, response }) => [request, response]),
  );
  const imports = [...named, ...called]
    .filter((name) => packageOf(name) !== packageName)
    .map((name) => wellKnownFileOf(name) ?? filePathOf(packageOf(name)));
  return {
    path: filePathOf(packageName),
    package: packageName,
    imports: [...new Set(imports)].sort(),
    messages: own(messages.keys()),
    enums: own(enums.keys()),
    services: own(services.keys()),
  };
}

/**
 * Returns the package of a type. The name of a nested type does not show where its package ends. The names of services,
 * which do not nest, show it; without a service, the package ends at the first capital letter.
 */
function packageResolver({ services }: ProtoSchema): (name: string) => string {
  const known = [...[...services.keys()].map(namespaceOf), handlePackage];
  const packages = [...new Set(known)].filter((name) => name !== "").sort((a, b) => b.length - a.length);
  return (name) =>
    packages.find((candidate) => name.startsWith(`${candidate}.`)) ??
    /^(?:[^A-Z.][^.]*\.)*/.exec(name)![0].slice(0, -1);
}

function filePathOf(packageName: string): string {
  return `${packageName.replaceAll(".", "/") || "types"}.proto`;
}
