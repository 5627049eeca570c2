/** Finds the declarations of other packages that the messages of a project contain. */
import {
  type DeclarationKey,
  type ImportedModule,
  indexSchema,
  partsOf,
  partsOfShape,
  type Schema,
  type Type,
  typesOf,
} from "../model/index.js";

/**
 * Returns the modules of other packages with the types to which the project refers, directly or through others. Their
 * actors are left out: their endpoints are messages of the other package.
 */
export function usedModules(schema: Schema): readonly ImportedModule[] {
  const index = indexSchema(schema);
  const used = new Set<DeclarationKey>();
  const visit = (type: Type): void => {
    partsOf(type).forEach(visit);
    if (type.kind !== "ref" || used.has(type.target)) return;
    used.add(type.target);
    partsOfShape(index.type(type.target).shape).forEach(visit);
  };
  for (const module of schema.modules) typesOf(module).forEach(visit);
  return (schema.imported ?? []).map((module) => ({
    ...module,
    types: module.types.filter(({ key }) => used.has(key)),
    actors: [],
  }));
}
