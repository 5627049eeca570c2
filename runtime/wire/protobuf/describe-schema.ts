/**
 * What codecs put on the wire in the protobuf layout, as data: for processes that have different schemas of one actor. It is
 * the same, number by number, as what the compiler lowers the schema to; messages that have no name in the schema are named
 * by where they stand.
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

/** The messages of codecs, and all that they need. */
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
  /** Full names by codec: the same codec is the same message. */
  readonly #namesByCodec = new Map<Codec<unknown>, string>();
  /** Of the entries of maps that protobuf does not have, by the codec of the map. */
  readonly #entries = new Map<Codec<unknown>, string>();
  /** What is still to be told of messages that have names: not at once, since schemas may be deep. */
  readonly #deferred: (() => void)[] = [];
  /** Before the names of types that say none: `acme.shop.v1.`. */
  readonly #package: string;

  constructor(packageName = "") {
    this.#package = packageName;
  }

  actor({ service, id, args, endpoints }: ActorDescriptor): void {
    const seen = endpoints.filter(({ keeps }) => keeps === undefined);
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

  /** A list of arguments is a message of its own, not one that stands for a tuple. */
  #arguments(args: Codec<readonly unknown[]>, wanted: string): string {
    const { type, parts } = structureOf(targetOf(args));
    const name = this.#unusedName(type ?? wanted);
    this.#members(name, parts);
    return name;
  }

  /**
   * The name of the message that a codec is, or that stands for it.
   * @param wanted the name that it gets if it has none
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
    // The list grows while it is walked.
    for (const step of this.#deferred) step();
    return this.schema;
  }

  #members(name: string, parts: readonly MessagePart[], standsFor?: ProtoMessage["standsFor"]): void {
    this.#defer(name, () => this.#describeMembers(name, parts, standsFor));
  }

  /** The message takes its place, and its name, before what is in it. */
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
    const position = protoFormOf(codec);
    switch (position.kind) {
      case "maybe":
        return [{ ...base, cardinality: "explicit", ...this.#typeAndCarried(position.inner, wanted) }];
      case "repeated":
        return [
          {
            ...base,
            cardinality: "repeated",
            ...this.#element(position, wanted),
            ...(part.unpacked && { packed: false }),
          },
        ];
      case "map":
        return [{ ...base, ...this.#map(codec, position, wanted) }];
      case "scalar":
        return [{ ...base, cardinality: "implicit", type: { kind: "scalar", scalar: position.scalar } }];
      case "enum": {
        const type = this.#type(codec, wanted);
        return [{ ...base, cardinality: "implicit", type, ...(position.isRequired && { demanded: true }) }];
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
      return { cardinality: "repeated", type, ...(canRepeat(key) && { unique: "key" }) };
    }
    const { scalar } = protoFormOf(key) as ProtoScalarForm;
    return { cardinality: "map", key: scalar, ...this.#typeAndCarried(value, `${wanted}Value`) };
  }

  /** An entry of a map that protobuf does not have. */
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
    position: ProtoRepeatedForm,
    wanted: string,
  ): Pick<ProtoField, "type" | "carries" | "unique" | "bits" | "millis"> {
    const { element, scalar } = position;
    const like = position.empty() as object;
    if (element === undefined) {
      const bits = narrowElementBits[like.constructor.name];
      return { type: { kind: "scalar", scalar: scalar as ProtoScalar }, ...(bits && { bits }) };
    }
    const isUnique = like instanceof Set && canRepeat(element);
    return { ...this.#typeAndCarried(element, `${wanted}Item`), ...(isUnique && { unique: "value" }) };
  }

  /** Of a port or a mesh also what is behind it. */
  #typeAndCarried(codec: Codec<unknown>, wanted: string): Pick<ProtoField, "type" | "carries" | "millis"> {
    const type = this.#type(codec, wanted);
    if (targetOf(codec).name === "date") return { type, millis: true };
    const { carried } = targetOf(codec) as { readonly carried?: { codec?: Codec<unknown>; actor?: number } };
    if (carried?.actor !== undefined) return { type, carries: { kind: "mesh", actor: carried.actor } };
    if (carried?.codec === undefined) return { type };
    return { type, carries: { kind: "port", type: this.#type(carried.codec, `${wanted}Port`) } };
  }

  /** Of one value in a place of its own. */
  #type(codec: Codec<unknown>, wanted: string): ProtoType {
    const position = protoFormOf(codec);
    if (position.kind === "scalar") return { kind: "scalar", scalar: position.scalar };
    if (position.kind === "enum") return { kind: "enum", name: this.#enum(codec, wanted) };
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

  /** What a user has called it, or where it stands. */
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

/** Whether the name of a codec is that of its type, not made of others. */
function hasTypeName(codec: Codec<unknown>): boolean {
  const { kind } = protoFormOf(codec);
  return kind === "message" || kind === "enum";
}

/** Elements that a set has once. Objects never are equal, and bytes are objects. Of what may be null, null is. */
function canRepeat(codec: Codec<unknown>): boolean {
  const position = protoFormOf(codec);
  if (position.kind === "maybe") return true;
  return position.kind === "enum" || (position.kind === "scalar" && position.scalar !== "bytes");
}

/** Bits of the elements of typed arrays that have fewer than their scalar. */
const narrowElementBits: Readonly<Record<string, 8 | 16>> = { Int8Array: 8, Int16Array: 16, Uint16Array: 16 };

/** Handles, unions and oneofs have no value with nothing in it. */
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
