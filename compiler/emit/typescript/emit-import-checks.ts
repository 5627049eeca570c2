/** Emits checks of the codecs that a generated file imports from other packages. */
import type { ImportedModule, Module } from "../../model/index.js";
import { partsOf, partsOfShape, typesOf } from "../../model/resolve.js";
import type { DeclarationKey, Type } from "../../model/type.js";
import { call, code, type FileBuilder, hex64, stringLiteral } from "../kit/index.js";
import { abiValue } from "./abi-names.js";
import type { EmitContext } from "./emit-context.js";

/**
 * Returns the types of other packages whose codecs the file of a module can contain: those to which the module refers,
 * directly or through aliases and generic types, whose parts become parts of the module's own code.
 */
export function importedTypesOf(module: Module, context: EmitContext): readonly DeclarationKey[] {
  const found = new Set<DeclarationKey>();
  const seen = new Set<DeclarationKey>();
  const visit = (type: Type): void => {
    if (type.kind === "ref" && !seen.has(type.target)) {
      seen.add(type.target);
      const { shape, typeParameters, exported } = context.index.type(type.target);
      const isImported = context.isImported(type.target);
      if (isImported && exported) found.add(type.target);
      if (shape.kind === "alias" || typeParameters.length > 0) partsOfShape(shape).forEach(visit);
    }
    partsOf(type).forEach(visit);
  };
  typesOf(module).forEach(visit);
  return [...found].sort();
}

/** A type argument with which generic types are checked. */
const example: Type = { kind: "scalar", scalar: "string" };

export function emitImportChecks(file: FileBuilder, types: readonly DeclarationKey[], context: EmitContext): void {
  file.blank();
  for (const key of types) {
    const { package: name } = context.index.moduleOf(key) as ImportedModule;
    const args = context.index.type(key).typeParameters.map(() => example);
    const codec = context.codec(key);
    const check = call(abiValue("checkImportedCodec"), [
      args.length === 0
        ? codec
        : call(
            codec,
            args.map(() => code`${abiValue("codec")}.string`),
          ),
      hex64(context.fingerprints.type({ kind: "ref", target: key, args })),
      stringLiteral(name),
      stringLiteral(context.schema.package),
    ]);
    file.line(code`${check}`, ";");
  }
}
