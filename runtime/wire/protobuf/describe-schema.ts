/**
 * Describes the protobuf layout of codecs as data, so that processes with different schemas of an actor can compare them.
 * The description has the same field numbers as the `.proto` files that the compiler generates. A message without a name in
 * the schema is named after the place that uses it.
 */

import { pascalCase } from "../../../shared/protobuf/names.js";
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoMethod,
  ProtoScalar,
  ProtoSchema,
  ProtoService,
  ProtoType,
} from "../../../shared/protobuf/proto-schema.js";
import type { Codec } from "../codec.js";
import type { ActorDescriptor, EndpointDescriptor } from "../descriptor.js";
import {
  type ChoiceStructure,
  entryParts,
  enumStructureOf,
  fixedProtoName,
  type MessagePart,
  structureOf,
  targetOf,
} from "./message-structure.js";
import { type ProtoMapForm, type ProtoRepeatedForm, type ProtoScalarForm, protoFormOf } from "./proto-form.js";

/**
 * Returns the protobuf description of an actor interface: its service with the messages and enums that the endpoints
 * use. The arguments of the constructor are the message `<service>.constructor`.
 */
export function describeActor(descriptor: ActorDescriptor): ProtoSchema {
  const { service } = descriptor;
  const description = new SchemaDescriber(service.slice(0, service.lastIndexOf(".") + 1));
  description.actor(descriptor);
  return description.finish();
}

/** Returns the messages of codecs, with all messages and enums that they refer to. */
export function describeCodecs(codecs: readonly Codec<unknown>[]): ProtoSchema {
  const description = new SchemaDescriber();
  for (const codec of codecs) description.message(codec, codec.name);
  return description.finish();
}

class SchemaDescriber {
  readonly schema = {
    messages: new Map<string, ProtoMessage>(),
    enums: new Map<string, ProtoEnum>(),
    services: new Map<string, ProtoService>(),
  };
  /** Full message names by codec. */
  readonly #namesByCodec = new Map<Codec<unknown>, string>();
  /** Full names of entry messages of maps that protobuf does not support, by the codec of the map. */
  readonly #entries = new Map<Codec<unknown>, string>();
  /** Steps that describe the named messages. They are deferred, since recursion would overflow the stack on deep schemas. */
  readonly #deferred: (() => void)[] = [];
  /** The prefix of types whose codecs have no full name: `acme.shop.v1.`. */
  readonly #package: string;

  constructor(packageName = "") {
    this.#package = packageName;
  }

  actor({ service, id, args, endpoints }: ActorDescriptor): void {
    const seen = endpoints.filter(({ retains }) => retains === undefined);
    const methods = seen.map((endpoint) => this.#method(endpoint, service));
    this.schema.services.set(service, { name: service, id, methods });
    this.#arguments(args, `${service}.constructor`);
  }

  #method({ method, id, args, result, stream, idempotent }: EndpointDescriptor, service: string): ProtoMethod {
    const request = this.#arguments(args, `${service}${method}Request`);
    const response = this.#unusedName(`${service}${method}Response`);
    this.#members(response, result === undefined ? [] : [{ ...resultPart, codec: result }]);
    return { name: method, id, request, response, stream, ...(idempotent && { idempotent }) };
  }

  /** Describes a list of arguments. It is a message of its own, unlike other tuples. */
  #arguments(args: Codec<readonly unknown[]>, wanted: string): string {
    const { type, parts } = structureOf(targetOf(args));
    const name = this.#unusedName(type ?? wanted);
    this.#members(name, parts);
    return name;
  }

  /**
   * Returns the name of the message that a codec is written as.
   * @param wanted the name of the message if the codec has none
   */
  message(codec: Codec<unknown>, wanted: string): string {
    const form = fixedProtoName(codec);
    if (form?.handle === true) this.schema.messages.set(form.name, { name: form.name, fields: [stateField] });
    if (form !== undefined) return form.name;
    const own = targetOf(codec);
    const known = this.#namesByCodec.get(own);
    if (known !== undefined) return known;
    const structure = structureOf(own);
    const name = this.#unusedName(structure.type ?? this.#ownName(own, wanted));
    this.#namesByCodec.set(own, name);
    if (structure.kind === "members") this.#members(name, structure.parts, structure.standsFor);
    else this.#choice(name, structure);
    return name;
  }

  finish(): ProtoSchema {
    // Steps append further steps.
    for (const step of this.#deferred) step();
    return this.schema;
  }

  #members(name: string, parts: readonly MessagePart[], standsFor?: ProtoMessage["standsFor"]): void {
    this.#defer(name, () => this.#describeMembers(name, parts, standsFor));
  }

  /** Reserves the position and the name of a message whose content is described later. */
  #defer(name: string, step: () => void): void {
    this.schema.messages.set(name, { name, fields: [] });
    this.#deferred.push(step);
  }

  #describeMembers(name: string, parts: readonly MessagePart[], standsFor?: ProtoMessage["standsFor"]): void {
    const fields = parts.flatMap((part) => this.#fields(part, name));
    const demanded = parts.filter(({ cases, codec }) => cases !== undefined && protoFormOf(codec).kind !== "maybe");
    const oneofs = demanded.map((part) => part.name);
    this.#message({
      name,
      fields,
      ...(oneofs.length > 0 && { demandedOneofs: oneofs }),
      ...(standsFor && { standsFor }),
    });
  }

  #choice(name: string, { parts, oneof: wanted, standsFor }: ChoiceStructure): void {
    let oneof = wanted;
    while (parts.some((part) => part.name === oneof)) oneof = `${oneof}_case`;
    this.#defer(name, () => {
      const fields = parts.map((part) => this.#case(part, name, oneof));
      this.#message({ name, fields, demandedOneofs: [oneof], standsFor });
    });
  }

  #message(message: ProtoMessage): void {
    const fields = [...message.fields].sort((a, b) => a.number - b.number);
    this.schema.messages.set(message.name, { ...message, fields });
  }

  #case(part: MessagePart, owner: string, oneof: string): ProtoField {
    const { codec, name, jsonName, number } = part;
    const place = this.#typeAndCarried(codec, owner + pascalCase(name));
    return { name, jsonName, number, cardinality: "explicit", ...place, oneof };
  }

  #fields(part: MessagePart, owner: string): readonly ProtoField[] {
    const { codec, name, jsonName, number, cases } = part;
    if (cases !== undefined) return cases.map((one) => this.#case(one, owner, name));
    const base = { name, jsonName, number };
    const wanted = owner + pascalCase(name);
    const form = protoFormOf(codec);
    switch (form.kind) {
      case "maybe":
        return [{ ...base, cardinality: "explicit", ...this.#typeAndCarried(form.inner, wanted) }];
      case "repeated":
        return [
          {
            ...base,
            cardinality: "repeated",
            ...this.#element(form, wanted),
            ...(part.unpacked && { packed: false }),
          },
        ];
      case "map":
        return [{ ...base, ...this.#map(codec, form, wanted) }];
      case "scalar":
        return [{ ...base, cardinality: "implicit", type: { kind: "scalar", scalar: form.scalar } }];
      case "enum": {
        const type = this.#type(codec, wanted);
        return [{ ...base, cardinality: "implicit", type, ...(form.isRequired && { demanded: true }) }];
      }
      case "message": {
        const place = this.#typeAndCarried(codec, wanted);
        return [
          {
            ...base,
            cardinality: "explicit",
            ...place,
            ...(isRequiredMessage(codec) ? { demanded: true } : { always: true }),
          },
        ];
      }
    }
  }

  #map(
    codec: Codec<unknown>,
    { isNativeMap, key, value }: ProtoMapForm,
    wanted: string,
  ): Pick<ProtoField, "cardinality" | "key" | "type" | "carries" | "unique" | "millis"> {
    if (!isNativeMap) {
      const type = { kind: "message", name: this.#entry(codec, key, value, wanted) } as const;
      return { cardinality: "repeated", type, ...(isComparedByValue(key) && { unique: "key" }) };
    }
    const { scalar } = protoFormOf(key) as ProtoScalarForm;
    return { cardinality: "map", key: scalar, ...this.#typeAndCarried(value, `${wanted}Value`) };
  }

  /** Returns the entry message of a map that protobuf does not support. */
  #entry(codec: Codec<unknown>, key: Codec<unknown>, value: Codec<unknown>, wanted: string): string {
    const own = targetOf(codec);
    const known = this.#entries.get(own);
    if (known !== undefined) return known;
    const name = this.#unusedName(`${wanted}Entry`);
    this.#entries.set(own, name);
    this.#members(name, entryParts(key, value), "part");
    return name;
  }

  #element(
    form: ProtoRepeatedForm,
    wanted: string,
  ): Pick<ProtoField, "type" | "carries" | "unique" | "bits" | "millis"> {
    const { element, scalar } = form;
    const like = form.empty() as object;
    if (element === undefined) {
      const bits = narrowElementBits[like.constructor.name];
      return { type: { kind: "scalar", scalar: scalar as ProtoScalar }, ...(bits && { bits }) };
    }
    const isUnique = like instanceof Set && isComparedByValue(element);
    return { ...this.#typeAndCarried(element, `${wanted}Item`), ...(isUnique && { unique: "value" }) };
  }

  /** Returns the type of a field. For a port or a mesh, also returns what the handle refers to. */
  #typeAndCarried(codec: Codec<unknown>, wanted: string): Pick<ProtoField, "type" | "carries" | "millis"> {
    const type = this.#type(codec, wanted);
    if (targetOf(codec).name === "date") return { type, millis: true };
    const { carried } = targetOf(codec) as { readonly carried?: { codec?: Codec<unknown>; actor?: number } };
    if (carried?.actor !== undefined) return { type, carries: { kind: "mesh", actor: carried.actor } };
    if (carried?.codec === undefined) return { type };
    return { type, carries: { kind: "port", type: this.#type(carried.codec, `${wanted}Port`) } };
  }

  /** Returns the type of a field with a single value. */
  #type(codec: Codec<unknown>, wanted: string): ProtoType {
    const form = protoFormOf(codec);
    if (form.kind === "scalar") return { kind: "scalar", scalar: form.scalar };
    if (form.kind === "enum") return { kind: "enum", name: this.#enum(codec, wanted) };
    return { kind: "message", name: this.message(codec, wanted) };
  }

  #enum(codec: Codec<unknown>, wanted: string): string {
    const form = fixedProtoName(codec);
    if (form !== undefined) return form.name;
    const own = targetOf(codec);
    const known = this.#namesByCodec.get(own);
    if (known !== undefined) return known;
    const { type, values } = enumStructureOf(own);
    const name = this.#unusedName(type ?? this.#ownName(own, wanted));
    this.#namesByCodec.set(own, name);
    this.schema.enums.set(name, { name, values });
    return name;
  }

  /** Returns the name that the user gave to a type, or `wanted`. */
  #ownName(codec: Codec<unknown>, wanted: string): string {
    return /^[A-Za-z][A-Za-z0-9]*$/.test(codec.name) && hasTypeName(codec) ? this.#package + codec.name : wanted;
  }

  #unusedName(wanted: string): string {
    const { messages, enums } = this.schema;
    let name = wanted;
    for (let i = 2; messages.has(name) || enums.has(name); i++) name = `${wanted}${i}`;
    return name;
  }
}

/** Returns whether the name of a codec is a type name, and not composed of the names of other codecs. */
function hasTypeName(codec: Codec<unknown>): boolean {
  const { kind } = protoFormOf(codec);
  return kind === "message" || kind === "enum";
}

/**
 * Returns whether sets and maps compare elements or keys of this type by value, so that equal ones occur once. Objects and
 * bytes are compared by identity; optional types always have a value, null, that is compared by value.
 */
function isComparedByValue(codec: Codec<unknown>): boolean {
  const form = protoFormOf(codec);
  if (form.kind === "maybe") return true;
  return form.kind === "enum" || (form.kind === "scalar" && form.scalar !== "bytes");
}

/** Bits of the elements of typed arrays whose protobuf scalar is wider. */
const narrowElementBits: Readonly<Record<string, 8 | 16>> = { Int8Array: 8, Int16Array: 16, Uint16Array: 16 };

/** Returns whether a message must be present: handles, unions and oneofs have no default value. */
function isRequiredMessage(codec: Codec<unknown>): boolean {
  const form = fixedProtoName(codec);
  return form === undefined ? structureOf(targetOf(codec)).kind === "choice" : form.handle === true;
}

const stateField: ProtoField = {
  name: "state",
  jsonName: "state",
  number: 1,
  cardinality: "implicit",
  type: { kind: "scalar", scalar: "bytes" },
};

const resultPart = { segment: "", number: 1, name: "result", jsonName: "result" };
