/**
 * Emits the codecs of one generated file: those of its declarations, and private codecs for inline types and for
 * generic types with arguments. A private codec is created when it is first referred to.
 */

import { flatName, isNested } from "../../../../shared/names/qualified-name.js";
import type { CoreType } from "../../../model/core-type.js";
import { partsOf, typeKey } from "../../../model/resolve.js";
import type { Parameter, TypeDeclaration } from "../../../model/schema.js";
import type { Field, Type } from "../../../model/type.js";
import { fieldsOfParameters } from "../../../protobuf/form/form.js";
import {
  arrow,
  assignment,
  type Code,
  type CodeName,
  call,
  code,
  type FileBuilder,
  type LocalName,
  stringLiteral,
} from "../../kit/index.js";
import { abiType, abiValue } from "../abi-names.js";
import { type EmitContext, lowerFirst } from "../emit-context.js";
import { TypePrinter } from "../type-printer.js";
import { CodecPrinter } from "./composed-codec.js";
import { type CodecSpec, emitCodec } from "./emit-codec.js";
import type { CodecReferences } from "./lockstep/body.js";
import { flatFields, lastOfRange } from "./lockstep/inlining.js";
import type { LockstepLayouts } from "./lockstep/lockstep-layouts.js";
import type { GeneratedType } from "./lockstep/methods.js";
import { typeHint, typeLabel } from "./type-label.js";

/** The maximum number of characters of a type's name in the name of a private codec. */
const longestHint = 48;

export class CodecEmitter implements CodecReferences {
  readonly #file: FileBuilder;
  readonly #context: EmitContext;
  readonly #layouts: LockstepLayouts;
  readonly #types: TypePrinter;
  readonly #composed: CodecPrinter;
  readonly #queue: (() => void)[] = [];

  constructor(file: FileBuilder, context: EmitContext, layouts: LockstepLayouts) {
    this.#file = file;
    this.#context = context;
    this.#layouts = layouts;
    this.#types = new TypePrinter(context);
    this.#composed = new CodecPrinter(context, this.#types);
  }

  /** Emits the codec of a declaration without type parameters. */
  declare({ key, name, shape }: TypeDeclaration): void {
    const type = { kind: "ref", target: key, args: [] } as const;
    const codec = this.#context.codec(key);
    const exported = this.#context.isExported(key);
    const hint = flatName(name);
    if (shape.kind === "enum") {
      // The names of the values begin with the name of the enum, without its namespace.
      const fullName = isNested(name) ? this.#context.protoName(key) : undefined;
      this.#constant(codec, exported, type, this.#composed.shape(shape, stringLiteral(name), type, fullName));
    } else if (this.#isTransparent(key)) {
      this.#constant(codec, exported, type, this.#expression(type, `${hint}Value`, true));
    } else {
      const own = this.#composed.shape(shape, stringLiteral(name), type, this.#context.exportedMessage(key));
      this.#emit(type, this.#generated(type), { hint, label: name, codec, exported, shape: own });
    }
  }

  /** Returns an expression for the codec of arguments. `name` is the name of the constructor or endpoint in errors. */
  args(name: string, params: readonly Parameter[]): Code {
    const composed = this.#composed.args(name, params);
    if (params.length === 0) return composed;
    const tuple = { kind: "tuple", elements: params, readonly: false } as const;
    const hint = `${name.split(".").map(capitalised).join("").slice(0, longestHint)}Args`;
    const codec = this.#file.local(`${lowerFirst(hint)}Codec`);
    this.#queue.push(() => {
      const type = this.#file.local(hint);
      this.#nameType(type, this.#types.parameterTuple(params));
      const parameters = fieldsOfParameters(params, this.#context.index);
      this.#emit(tuple, tuple, { hint, label: name, codec, exported: false, shape: composed, type, parameters });
    });
    return codec;
  }

  /** Returns an expression for the codec of a type. It is evaluated after all modules have been evaluated. */
  expressionOf(type: Type, hint: string): Code {
    return this.#expression(type, hint, false);
  }

  reference(core: CoreType, hint: string): Code {
    if (core.kind === "ref" && core.args.length === 0 && !this.#isTransparent(core.target)) {
      return this.#context.codec(core.target);
    }
    if (core.kind === "wellKnown") return this.#composed.type(core);
    const key = typeKey(core);
    const known = this.#file.sharedName("codec", key);
    if (known !== undefined) return known;
    const own = core.kind === "ref" ? typeHint(core, this.#context.index) : hint;
    const name = (core.kind === "ref" && core.args.length === 0 ? `${own}Value` : own).slice(0, longestHint);
    const codec = this.#file.local(`${lowerFirst(name)}Codec`);
    this.#file.shareName("codec", key, codec);
    this.#queue.push(() => this.#emitPrivate(core, name, codec));
    return codec;
  }

  inlinedFields(core: CoreType): readonly Field[] | undefined {
    return this.#isOfOtherFile(core) ? undefined : flatFields(core, this.#context.index);
  }

  inlinedEnum(core: CoreType): number | undefined {
    return this.#isOfOtherFile(core) ? undefined : lastOfRange(core, this.#context.index);
  }

  standIn(type: Type, hint: string): Code {
    if (type.kind === "typedArray") return this.#composed.type(type);
    const { core, nullable } = this.#layouts.peel(type);
    if (core.kind === "ref" && !nullable) return this.reference(core, hint);
    const key = typeKey(type);
    // A reference to a nullable alias means the type without null.
    const known =
      (nullable ? undefined : this.#file.sharedName("codec", key)) ?? this.#file.sharedName("stand-in", key);
    if (known !== undefined) return known;
    const codec = this.#file.local(`${lowerFirst(hint.slice(0, longestHint))}Codec`);
    this.#file.shareName("stand-in", key, codec);
    const composed = this.#composed.type(type);
    this.#queue.push(() => this.#constant(codec, false, type, hasReference(type) ? lazy(composed) : composed));
    return codec;
  }

  type(type: Type, hint: string): Code {
    if (isShort(type)) return this.#types.type(type);
    const key = typeKey(type);
    const known = this.#file.sharedName("type", key);
    if (known !== undefined) return known;
    const name = this.#file.local(hint.slice(0, longestHint));
    this.#file.shareName("type", key, name);
    this.#queue.push(() => this.#nameType(name, this.#types.type(type)));
    return name;
  }

  /** Writes the private codecs that have been referred to, and those to which they refer. */
  flush(): void {
    for (let emit = this.#queue.shift(); emit !== undefined; emit = this.#queue.shift()) emit();
  }

  #emitPrivate(core: CoreType, hint: string, codec: LocalName): void {
    const type = this.#meaning(core);
    const expression = this.#composed.type(type);
    if (isLive(core) || this.#isEnum(core)) {
      const isApplied = core.kind === "ref" && core.args.length > 0;
      this.#constant(codec, false, core, isApplied ? lazy(expression) : expression);
      return;
    }
    const label = typeLabel(core, this.#context.index);
    const printed = this.type(type, hint);
    this.#emit(core, this.#generated(core), { hint, label, codec, exported: false, shape: expression, type: printed });
  }

  /**
   * Returns the type that a reference stands for. A reference to an alias means the target without null, which the
   * alias's name would not express.
   */
  #meaning(core: CoreType): Type {
    if (core.kind !== "ref") return core;
    const shape = this.#layouts.shape(core);
    return shape.kind === "alias" ? shape.type : core;
  }

  #emit(
    core: CoreType,
    generated: GeneratedType,
    unit: Pick<CodecSpec, "hint" | "label" | "codec" | "exported" | "shape" | "parameters"> & { readonly type?: Code },
  ): void {
    const layouts = this.#layouts;
    const facts = {
      fingerprint: this.#context.fingerprints.type(core),
      slot: layouts.slotSize(core),
      text: layouts.holdsText(core),
      bulk: layouts.holdsBulk(core),
      recursive: layouts.isRecursive(core),
    };
    const type = unit.type ?? this.#types.type(core);
    const { index } = this.#context;
    const surroundings = { file: this.#file, types: this.#types, index, layouts, codecs: this };
    emitCodec({ ...unit, ...facts, generated, type }, surroundings);
  }

  /** Returns the type for which statements are generated. */
  #generated(core: CoreType): GeneratedType {
    if (core.kind === "tuple") return core;
    if (core.kind !== "ref" && core.kind !== "inline") return { kind: "alias", type: core };
    const shape = this.#layouts.shape(core);
    if (shape.kind === "enum") throw new Error("an enumeration has no class of its own");
    return shape.kind === "alias" ? this.#generated(this.#layouts.peel(shape.type).core) : shape;
  }

  #expression(type: Type, hint: string, early: boolean): Code {
    const { core, nullable } = this.#layouts.peel(type);
    const isPlain =
      core.kind === "scalar" ||
      core.kind === "typedArray" ||
      core.kind === "wellKnown" ||
      isLive(core) ||
      isInlineEnum(core);
    const codec = isPlain ? this.#composed.type(core) : this.reference(core, hint);
    // Other modules, or the rest of this module, may not have been evaluated yet.
    const whole = early && !isPlain ? lazy(codec) : codec;
    return nullable ? call(code`${abiValue("codec")}.nullable`, [whole]) : whole;
  }

  #constant(codec: CodeName, exported: boolean, type: Type, value: Code): void {
    const head = code`${exported ? "export " : ""}const ${codec}: ${this.#types.generic(abiType("Codec"), [type])}`;
    this.#file.blank();
    this.#file.line(assignment(head, value), ";");
  }

  /** Declares a private name for a type whose text is long. */
  #nameType(name: LocalName, type: Code): void {
    this.#file.blank();
    this.#file.line(assignment(code`type ${name}`, type), ";");
  }

  #isTransparent(key: string): boolean {
    const { core, nullable } = this.#layouts.peel({ kind: "ref", target: key, args: [] });
    return nullable || core.kind !== "ref" || core.target !== key;
  }

  /** Returns whether another file declares the type. Its codec is then called, so that each file can change by itself. */
  #isOfOtherFile(core: CoreType): boolean {
    const { index, fileOf } = this.#context;
    return core.kind === "ref" && fileOf(index.moduleOf(core.target)) !== this.#file.path;
  }

  #isEnum(core: CoreType): boolean {
    return isInlineEnum(core) || (core.kind === "ref" && this.#layouts.shape(core).kind === "enum");
  }
}

/** Returns a codec that is resolved on first use, because it may not exist yet. */
function lazy(codec: Code): Code {
  return call(code`${abiValue("codec")}.lazy`, [arrow("()", codec)]);
}

/** Returns whether a composed codec refers to named codecs. */
function hasReference(type: Type): boolean {
  return ["ref", "mesh", "port", "objectRef"].includes(type.kind) || partsOf(type).some(hasReference);
}

/** Returns whether the text of a type is short. */
function isShort(type: Type): boolean {
  switch (type.kind) {
    case "array":
    case "set":
      return isName(type.element);
    case "nullable":
      return isName(type.inner);
    case "map":
      return isName(type.key) && isName(type.value);
    case "record":
      return isName(type.value);
    default:
      return isName(type);
  }
}

function isName(type: Type): boolean {
  if (type.kind === "mesh") return type.dimensions === undefined;
  if (type.kind === "wellKnown") return true;
  return type.kind === "scalar" || type.kind === "typedArray" || (type.kind === "ref" && type.args.length === 0);
}

function isInlineEnum(core: CoreType): boolean {
  return core.kind === "inline" && core.shape.kind === "enum";
}

/** Returns whether only the runtime can write the values. */
function isLive(core: CoreType): boolean {
  return ["port", "mesh", "rdmaBuffer", "tensor", "objectRef"].includes(core.kind);
}

function capitalised(name: string): string {
  return name.replace(/^./u, (first) => first.toUpperCase());
}
