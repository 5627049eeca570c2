/**
 * Prints codecs as expressions: `codec.array(TreeCodec)`. They compose the combinators of the runtime according to the
 * type.
 */
import { partsOf } from "../../../model/resolve.js";
import type { Parameter, TypeDeclaration } from "../../../model/schema.js";
import type { Field, Shape, Type, TypedArrayElement } from "../../../model/type.js";
import {
  arrow,
  arrowToObject,
  bracketed,
  type Code,
  call,
  code,
  memberAccess,
  numberArray,
  objectKey,
  objectLiteral,
  property,
  stringLiteral,
} from "../../kit/index.js";
import { abiValue, objectRefCodec, tensorCodec } from "../abi-names.js";
import { type EmitContext, lowerFirst } from "../emit-context.js";
import { literalText, type TypePrinter } from "../type-printer.js";
import {
  enumProtoOptions,
  fieldsProtoOptions,
  objectProtoOptions,
  tupleProtoOptions,
  unionProtoOptions,
} from "./proto-options.js";

const codec = abiValue("codec");

/** The codecs of the type parameters in scope. */
export type ParameterCodecs = ReadonlyMap<string, Code>;

/** Prints expressions for the codecs of types. */
export class CodecPrinter {
  readonly #context: EmitContext;
  readonly #types: TypePrinter;
  readonly #parameters: ParameterCodecs;

  constructor(context: EmitContext, types: TypePrinter, parameters: ParameterCodecs = new Map()) {
    this.#context = context;
    this.#types = types;
    this.#parameters = parameters;
  }

  /**
   * Returns the codec of `type`. It refers to the codecs of declarations, which must exist when the expression is
   * evaluated.
   */
  type(type: Type): Code {
    switch (type.kind) {
      case "scalar":
        return memberAccess(codec, type.scalar);
      case "typedArray":
        return memberAccess(codec, typedArrays[type.element]);
      case "array":
      case "set":
        return this.#call(type.kind, [this.type(type.element)]);
      case "map":
        return this.#call("map", [this.type(type.key), this.type(type.value)]);
      case "record":
        return this.#call("record", [this.type(type.value)]);
      case "nullable":
        return this.#call("nullable", [this.type(type.inner)]);
      case "tuple":
        return this.#tuple(type);
      case "ref": {
        const name = this.#context.codec(type.target);
        if (type.args.length === 0) return name;
        const factory = type.args.some(isInferredWider) ? this.#types.generic(name, type.args) : name;
        const args = type.args.map((arg) => this.type(arg));
        return call(factory, args);
      }
      case "parameter":
        return this.#parameters.get(type.name) ?? type.name;
      case "inline":
        return this.shape(type.shape, '""', type);
      case "port":
        return this.#call("port", [arrow("()", this.type(type.element))]);
      case "mesh": {
        const dims = type.dimensions === undefined ? [] : [bracketed(type.dimensions.map(stringLiteral))];
        return this.#call("mesh", [arrow("()", this.#context.descriptor(type.actor)), ...dims]);
      }
      case "rdmaBuffer":
        return this.#call(type.kind, []);
      case "tensor":
        return call(tensorCodec, []);
      case "objectRef":
        return call(objectRefCodec, [arrow("()", this.type(type.element))]);
      case "wellKnown":
        return memberAccess(codec, lowerFirst(type.name));
      case "unsupported":
        throw new Error(`cannot emit ${type.typeText}: the schema has errors`);
    }
  }

  /**
   * Returns the codec of a declared shape.
   * @param name an expression for the name
   * @param type the type of the values
   * @param fullName the full protobuf name of a message, by which a message in an `Any` finds its codec, or of an enum
   * in a namespace
   */
  shape(shape: Shape, name: Code, type: Type, fullName?: string): Code {
    switch (shape.kind) {
      case "message":
        return call(this.#types.generic([codec, ".object"], [type]), [
          name,
          arrowToObject("()", this.#fields(shape.fields)),
          ...objectProtoOptions(shape.fields, fullName),
        ]);
      case "enum": {
        const literals = shape.values.map(({ value }) => literalText(value));
        const values = shape.values.every(({ value }) => typeof value === "number")
          ? numberArray(literals)
          : bracketed(literals);
        return call(this.#types.generic([codec, ".enumeration"], [type]), [
          name,
          values,
          ...enumProtoOptions(
            shape,
            literalNameText(name),
            literalNameText(name) === "" ? this.#context.enumName(shape) : fullName,
          ),
        ]);
      }
      case "oneof":
        return call(this.#types.generic([codec, ".oneof"], [type]), [
          name,
          arrowToObject("()", this.#fields(shape.cases)),
          ...fieldsProtoOptions(shape.cases, fullName),
        ]);
      case "union": {
        const variants = shape.variants.map(({ tag, type }) => property(objectKey(tag), this.type(type)));
        const list = arrowToObject("()", objectLiteral(variants));
        const proto = unionProtoOptions(shape.variants, fullName);
        const args = [name, stringLiteral(shape.discriminant), list, ...proto];
        return call(this.#types.generic([codec, ".union"], [type]), args);
      }
      case "alias":
        return this.type(shape.type);
    }
  }

  /** Returns the codec of the arguments of a constructor or an endpoint. `name` is its name in errors. */
  args(name: string, params: readonly Parameter[]): Code {
    return call([codec, ".parameters"], [stringLiteral(name), this.#fields(params), ...fieldsProtoOptions(params)]);
  }

  #fields(fields: readonly (Field | Parameter)[]): Code {
    return objectLiteral(
      fields.map(({ name, optional, type }) => property(objectKey(name), this.#part(type, optional))),
    );
  }

  #part(type: Type, optional: boolean): Code {
    return optional ? this.#call("optional", [this.type(type)]) : this.type(type);
  }

  /**
   * Returns the codec of a tuple with an explicit type. TypeScript before 6 infers a wrong type for the tuple of a
   * field and rejects the field.
   */
  #tuple(type: Extract<Type, { kind: "tuple" }>): Code {
    const { elements, rest } = type;
    const parts = elements.map(({ type, optional }) => this.#part(type, optional));
    const proto = tupleProtoOptions(elements);
    const combinator = (name: string): Code => this.#types.generic([codec, ".", name], [type]);
    if (rest !== undefined) return call(combinator("tupleWithRest"), [bracketed(parts), this.type(rest), ...proto]);
    return proto.length === 0 ? call(combinator("tuple"), parts) : call(combinator("tupleAs"), [...proto, ...parts]);
  }

  #call(combinator: string, args: readonly Code[]): Code {
    return call([codec, ".", combinator], args);
  }
}

/** Returns whether TypeScript infers a mutable type for the expression of a codec whose type is readonly. */
function isInferredWider(type: Type): boolean {
  return type.kind === "tuple" || ("readonly" in type && type.readonly) || partsOf(type).some(isInferredWider);
}

/** Returns the text of a name expression. Enums are not generic, so the expression is a literal. */
function literalNameText(name: Code): string {
  return typeof name === "string" ? (JSON.parse(name) as string) : "";
}

/**
 * Returns an expression for the name of a codec: `"Tree"`, or with the names of type arguments: `` `Page<${item.name}>`
 * ``.
 */
export function nameExpression(declaration: TypeDeclaration, parameters: ParameterCodecs): Code {
  if (parameters.size === 0) return stringLiteral(declaration.name);
  const args = [...parameters.values()].map((parameter, i) => [i === 0 ? "" : ", ", "${", parameter, ".name}"]);
  return code`\`${declaration.name}<${args}>\``;
}

const typedArrays: Readonly<Record<TypedArrayElement, string>> = {
  int8: "int8Array",
  uint8clamped: "uint8ClampedArray",
  int16: "int16Array",
  uint16: "uint16Array",
  int32: "int32Array",
  uint32: "uint32Array",
  bigint64: "bigInt64Array",
  biguint64: "bigUint64Array",
  float32: "float32Array",
  float64: "float64Array",
};
