/** Tells for each schema file to which npm package and protobuf package it belongs: the project's, or another one. */

import type { ImportedModule, Schema } from "../../model/schema.js";
import { outputPath } from "../../model/schema-paths.js";

export interface ModuleOrigin {
  /** The protobuf package. */
  readonly package: string;
  /** The path relative to the folder that contains all schema files of its npm package. */
  readonly path: string;
  /** The npm package, or undefined for the project itself. */
  readonly importedFrom?: string;
}

/** The protobuf package of the project, and the folder that contains its schema files. */
export interface ProjectOrigin {
  readonly package: string;
  readonly schemaRoot: string;
}

export class ModuleOrigins {
  readonly #imported: ReadonlyMap<string, ImportedModule>;
  readonly #project: ProjectOrigin;

  constructor({ imported = [] }: Schema, project: ProjectOrigin) {
    this.#imported = new Map(imported.map((module) => [module.path, module]));
    this.#project = project;
  }

  /** @param path the path of the schema file in the model */
  of(path: string): ModuleOrigin {
    const other = this.#imported.get(path);
    if (other !== undefined) return { package: other.protoPackage, path: other.output, importedFrom: other.package };
    return { package: this.#project.package, path: outputPath(path, this.#project.schemaRoot) };
  }

  /** Returns whether two schema files belong to the same npm package. */
  areTogether(one: string, other: string): boolean {
    return this.#imported.get(one)?.package === this.#imported.get(other)?.package;
  }
}
