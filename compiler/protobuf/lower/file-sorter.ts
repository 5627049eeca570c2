/**
 * Assigns each part of a lowered schema to a `.proto` file. Each schema file has one. Unlike TypeScript files, protobuf
 * files must not import each other in a cycle, so schema files that need each other share one.
 */

import { handlePackage, snakeCase } from "../../../shared/protobuf/names.js";
import type { ProtoSchema, ProtoType } from "../../../shared/protobuf/proto-schema.js";
import { wellKnownFileOf } from "../../../shared/protobuf/well-known-files.js";
import { moduleName } from "../../lock/index.js";
import { components } from "../../model/connected-components.js";
import { handleFile } from "./handle-messages.js";
import type { LoweredFile } from "./lowered-schema.js";
import type { ModuleOrigins } from "./module-origins.js";

type FilePart = "messages" | "enums" | "services";

export class FileSorter {
  readonly #origins: ModuleOrigins;
  /** The names of the parts in each schema file, by its path. */
  readonly #modules = new Map<string, Record<FilePart, string[]>>();
  readonly #moduleOf = new Map<string, string>();

  constructor(origins: ModuleOrigins) {
    this.#origins = origins;
  }

  add(name: string, part: FilePart, module: string): void {
    const parts = this.#modules.get(module) ?? { messages: [], enums: [], services: [] };
    parts[part].push(name);
    this.#modules.set(module, parts);
    this.#moduleOf.set(name, module);
  }

  /** Returns the files, each after those that it imports. */
  sort(schema: ProtoSchema): readonly LoweredFile[] {
    const modules = [...this.#modules.keys()].sort();
    const references = new Map(modules.map((module) => [module, this.#referencesOf(module, schema)]));
    const needed = (module: string) => (references.get(module) ?? []).flatMap((name) => this.#moduleOf.get(name) ?? []);
    const groups = components(modules, needed);
    const paths = this.#paths(groups);
    const files = groups.map((group): LoweredFile => {
      const path = paths.get(group[0] as string) as string;
      const imports = new Set(
        group.flatMap((module) => references.get(module) ?? []).map((name) => this.#fileOf(name, paths)),
      );
      imports.delete(path);
      const { package: packageName, importedFrom } = this.#origins.of(group[0] as string);
      return {
        path,
        package: packageName,
        ...(importedFrom !== undefined && { importedFrom }),
        modules: group,
        messages: group.flatMap((module) => this.#modules.get(module)?.messages ?? []),
        enums: group.flatMap((module) => this.#modules.get(module)?.enums ?? []),
        services: group.flatMap((module) => this.#modules.get(module)?.services ?? []),
        imports: [...imports].sort(),
      };
    });
    return [...handleFiles(schema), ...files];
  }

  #referencesOf(module: string, schema: ProtoSchema): readonly string[] {
    const { messages, services } = this.#modules.get(module) as Record<FilePart, string[]>;
    const types = messages.flatMap(
      (name) => schema.messages.get(name)?.fields.flatMap(({ type }) => namedTypes(type)) ?? [],
    );
    const calls = services.flatMap((name) => schema.services.get(name)?.methods ?? []);
    return [...new Set([...types, ...calls.flatMap(({ request, response }) => [request, response])])];
  }

  #fileOf(name: string, paths: ReadonlyMap<string, string>): string {
    const module = this.#moduleOf.get(name);
    if (module !== undefined) return paths.get(module) as string;
    if (name.startsWith(`${handlePackage}.`)) return handleFile;
    const file = wellKnownFileOf(name);
    if (file === undefined) throw new Error(`cannot import ${name}: no file declares it`);
    return file;
  }

  /** Returns the path of the `.proto` file for each schema file. The files of one group share a path. */
  #paths(groups: readonly (readonly string[])[]): ReadonlyMap<string, string> {
    const taken = new Set<string>();
    const paths = new Map<string, string>();
    // Other packages keep the paths that they have without this project.
    const rank = (module = "") => `${this.#origins.of(module).importedFrom === undefined ? 1 : 0}${module}`;
    const inOrder = [...groups].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
    for (const group of inOrder) {
      const { package: packageName, path: own } = this.#origins.of(group[0] as string);
      const wanted = `${packageName.replaceAll(".", "/")}/${fileName(own)}`;
      let name = wanted;
      for (let i = 2; taken.has(name); i++) name = `${wanted}_${i}`;
      taken.add(name);
      for (const module of group) paths.set(module, `${name}.proto`);
    }
    return paths;
  }
}

/**
 * Returns the file name without extension: `deep_my_counter` for `deep/my-counter.ts`, since all files of a package are
 * in one folder.
 */
function fileName(path: string): string {
  const words = snakeCase(moduleName(path))
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return words === "" ? "schema" : words;
}

function namedTypes(type: ProtoType): readonly string[] {
  return type.kind === "scalar" ? [] : [type.name];
}

function handleFiles({ messages }: ProtoSchema): readonly LoweredFile[] {
  const own = [...messages.keys()].filter((name) => name.startsWith(`${handlePackage}.`)).sort();
  if (own.length === 0) return [];
  return [
    { path: handleFile, package: handlePackage, modules: [], messages: own, enums: [], services: [], imports: [] },
  ];
}
