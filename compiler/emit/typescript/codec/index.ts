/** The codecs of a schema file. */

import { pascalCase } from "../../../../shared/protobuf/names.js";
import { partsOfShape, type SchemaIndex } from "../../../model/resolve.js";
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
import { abiType, abiValue } from "../abi-names.js";
import { callerParams } from "../emit-actor.js";
import { type EmitContext, lowerFirst } from "../emit-context.js";
import { mentionsParameter } from "../emit-declaration.js";
import { TypePrinter } from "../type-printer.js";
import { CodecEmitter } from "./codec-emitter.js";
import { CodecPrinter, nameExpression } from "./composed-codec.js";
import { LockstepLayouts } from "./lockstep/lockstep-layouts.js";

export { flatFields } from "./lockstep/inlining.js";

/** The codecs to which the descriptors of actors and tasks refer. Each method returns an expression. */
export interface FunctionCodecs {
  /** Returns the codec of the arguments of a constructor or an endpoint: one tuple, without the port of `@respond`. */
  args(owner: ActorDeclaration | Endpoint): Code;
  /**
   * Returns the codec of the type of a result, of an item of a stream, of a port's messages, of a state, or of an argument
   * of a task.
   */
  codec(type: Type): Code;
}

/** Writes codecs to a file. Private codecs follow the first codec that refers to them. */
export class ModuleCodecEmitter {
  readonly #file: FileBuilder;
  readonly #context: EmitContext;
  readonly #codecs: CodecEmitter;

  constructor(file: FileBuilder, context: EmitContext) {
    this.#file = file;
    this.#context = context;
    this.#codecs = new CodecEmitter(file, context, lockstepLayoutsOf(context.index));
  }

  /** Writes the codec of a declaration. */
  emit(declaration: TypeDeclaration): void {
    if (declaration.typeParameters.length > 0) emitFactory(this.#file, declaration, this.#context);
    else this.#codecs.declare(declaration);
    this.#codecs.flush();
  }

  /** Writes the codecs of arguments and results, and returns the access to their names for descriptors. */
  emitForFunctions({ actors, tasks }: Pick<Module, "actors" | "tasks">): FunctionCodecs {
    const units = this.#codecs;
    const args = new Map<ActorDeclaration | Endpoint, Code>();
    const results = new Map<Type, Code>();
    for (const actor of actors) {
      args.set(actor, units.args(actor.name, actor.args));
      const { state } = actor;
      if (state !== undefined) results.set(state, units.expressionOf(state, `${actor.name}State`));
      for (const endpoint of actor.endpoints) {
        const { name, result } = endpoint;
        args.set(endpoint, units.args(`${actor.name}.${name}`, callerParams(endpoint)));
        if (result !== undefined) results.set(result, units.expressionOf(result, `${actor.name}Result`));
      }
    }
    for (const { name, args: params, result } of tasks) {
      for (const param of params)
        results.set(param.type, units.expressionOf(param.type, `${name}${pascalCase(param.name)}`));
      if (result !== undefined) results.set(result, units.expressionOf(result, `${name}Result`));
    }
    units.flush();
    return { args: (owner) => args.get(owner)!, codec: (type) => results.get(type)! };
  }
}

/** Returns the declarations in the order in which their codecs are emitted. */
export function aliasesLast(types: readonly TypeDeclaration[]): readonly TypeDeclaration[] {
  const isAlias = ({ shape }: TypeDeclaration) => shape.kind === "alias";
  return [...types.filter((type) => !isAlias(type)), ...types.filter(isAlias)];
}

const layouts = new WeakMap<SchemaIndex, LockstepLayouts>();

/** Returns the layouts of a schema, which are computed once. */
export function lockstepLayoutsOf(index: SchemaIndex): LockstepLayouts {
  const known = layouts.get(index) ?? new LockstepLayouts(index);
  layouts.set(index, known);
  return known;
}

/**
 * Writes the codec of a generic declaration: a function that takes the codecs of the type arguments and returns a
 * composed codec.
 */
function emitFactory(file: FileBuilder, declaration: TypeDeclaration, context: EmitContext): void {
  const { key, shape, typeParameters } = declaration;
  const scope = file.scope();
  const types = new Map(typeParameters.map((name): [string, LocalName] => [name, scope.name(name)]));
  const codecs = new Map(
    typeParameters.map((name): [string, LocalName] => [
      name,
      scope.name(partsOfShape(shape).some(mentionsParameter(name)) ? name.toLowerCase() : `_${name.toLowerCase()}`),
    ]),
  );
  const printer = new TypePrinter(context, types);
  const type: Type = { kind: "ref", target: key, args: typeParameters.map((name) => ({ kind: "parameter", name })) };
  const result = printer.generic(abiType("Codec"), [type]);
  const exportedAs = (what: string) => (context.isExported(key) ? `export ${what}` : what);
  const exported = exportedAs("const ");
  const value = new CodecPrinter(context, printer, codecs).shape(shape, nameExpression(declaration, codecs), type);
  file.blank();
  const params = typeParameters.map((name) => code`${codecs.get(name)!}: ${abiType("Codec")}<${types.get(name)!}>`);
  const open = ["<", join(", ", [...types.values()]), ">"];
  // An alias is replaced by its target. Any other declaration has one codec for equal arguments, with its own
  // fingerprint.
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
