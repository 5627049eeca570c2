/** Tells for each schema file to which npm package and protobuf package it belongs: the project's, or another one. */

import type { ImportedModule, Schema } from "../../model/schema.js";
import { outputPath } from "../../model/schema-paths.js";
import type { LowerOptions } from "./lower.js";

export interface ModuleOrigin {
  /** The protobuf package. */
  readonly package: string;
  /** The path relative to the folder that contains all schema files of its npm package. */
  readonly path: string;
  /** The npm package, or undefined for the project itself. */
  readonly importedFrom?: string;
}

export class ModuleOrigins {
  readonly #imported: ReadonlyMap<string, ImportedModule>;
  readonly #options: LowerOptions;

  constructor({ imported = [] }: Schema, options: LowerOptions) {
    this.#imported = new Map(imported.map((module) => [module.path, module]));
    this.#options = options;
  }

  /** @param path the path of the schema file in the model */
  of(path: string): ModuleOrigin {
    const other = this.#imported.get(path);
    if (other !== undefined) return { package: other.protoPackage, path: other.output, importedFrom: other.package };
    return { package: this.#options.package, path: outputPath(path, this.#options.schemaRoot) };
  }

  /** Returns whether two schema files belong to the same npm package. */
  areTogether(one: string, other: string): boolean {
    return this.#imported.get(one)?.package === this.#imported.get(other)?.package;
  }
}
