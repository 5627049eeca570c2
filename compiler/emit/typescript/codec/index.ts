/** Codecs of a schema file. */

import { partsOfShape } from "../../../model/resolve.js";
import type { ActorDeclaration, Endpoint, Module, TypeDeclaration } from "../../../model/schema.js";
import type { Type } from "../../../model/type.js";
import {
  assignment,
  type Code,
  call,
  code,
  type FileBuilder,
  functionType,
  hex64,
  join,
  type LocalName,
  signature,
} from "../../kit/index.js";
import { callerParams } from "../actors.js";
import { type EmitContext, lowerFirst } from "../context.js";
import { mentions } from "../declarations.js";
import { abiType, abiValue } from "../names.js";
import { TypePrinter } from "../types.js";
import { CodecPrinter, nameExpression } from "./composed.js";

/** How descriptors refer to the codecs that `emitCodecs` has written. Every answer is an expression. */
export interface ModuleCodecs {
  /** The codec of the arguments of a constructor or an endpoint, as one tuple, without the port of `@respond`. */
  args(owner: ActorDeclaration | Endpoint, name: string): Code;
  /** The codec of a type: of a result, an item of a stream, what a port takes. */
  of(type: Type): Code;
}

/** Writes the codecs of all types of `module`, and of the arguments of its actors. */
export function emitCodecs(file: FileBuilder, module: Module, context: EmitContext): ModuleCodecs {
  const isAlias = ({ shape }: TypeDeclaration) => shape.kind === "alias";
  const aliasesLast = [...module.types.filter((type) => !isAlias(type)), ...module.types.filter(isAlias)];
  for (const declaration of aliasesLast) emitCodec(file, declaration, context);
  const printer = new CodecPrinter(context, new TypePrinter(context));
  return {
    args: (owner, name) => printer.args(name, "args" in owner ? owner.args : callerParams(owner)),
    of: (type) => printer.type(type),
  };
}

function emitCodec(file: FileBuilder, declaration: TypeDeclaration, context: EmitContext): void {
  const { key, shape, typeParameters } = declaration;
  const scope = file.scope();
  const types = new Map(typeParameters.map((name): [string, LocalName] => [name, scope.name(name)]));
  const codecs = new Map(
    typeParameters.map((name): [string, LocalName] => [
      name,
      scope.name(partsOfShape(shape).some(mentions(name)) ? name.toLowerCase() : `_${name.toLowerCase()}`),
    ]),
  );
  const printer = new TypePrinter(context, types);
  const type: Type = { kind: "ref", target: key, args: typeParameters.map((name) => ({ kind: "parameter", name })) };
  const result = printer.generic(abiType("Codec"), [type]);
  const exportedAs = (what: string) => (context.exported(key) ? `export ${what}` : what);
  const exported = exportedAs("const ");
  const value = new CodecPrinter(context, printer, codecs).shape(shape, nameExpression(declaration, codecs), type);
  file.blank();
  if (typeParameters.length === 0) {
    file.line(assignment([exported, context.codec(key), ": ", result], value), ";");
    return;
  }
  const params = typeParameters.map((name) => code`${codecs.get(name)!}: ${abiType("Codec")}<${types.get(name)!}>`);
  const open = ["<", join(", ", [...types.values()]), ">"];
  // An alias is what it stands for; anything else is one codec for the same arguments, with a fingerprint of its own.
  if (context.fingerprints.transparent(key)) {
    const head = [exportedAs("function "), context.codec(key), open, signature(params, result)];
    file.block(head, () => file.line("return ", value, ";"));
    return;
  }
  const make = file.local(lowerFirst(context.codec(key).name));
  const memoized = call(code`${abiValue("codec")}.generic`, [hex64(context.fingerprints.declaration(key)), make]);
  const factory = functionType(open, params, result);
  file.line(assignment([exported, context.codec(key), ": ", factory], memoized), ";");
  file.blank();
  file.block(["function ", make, open, signature(params, result)], () => file.line("return ", value, ";"));
}
