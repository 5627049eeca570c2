/**
 * Lowers actors to services: one for every actor, with a method for every endpoint, and messages for requests and
 * responses.
 */

import { pascalCase, serviceName } from "../../../shared/protobuf/names.js";
import type { ProtoField, ProtoMessage, ProtoMethod, ProtoService } from "../../../shared/protobuf/proto-schema.js";
import type { ActorDeclaration, Endpoint, Module, Parameter } from "../../model/schema.js";
import { elementForm, fieldsOfParameters, type MessageField } from "../form/form.js";
import {
  findMember,
  type LowerContext,
  type MemberAtPath,
  type MessageLowering,
  namesInUse,
} from "./message-lowering.js";
import { memberStep, type NamePath, namePathBelow } from "./name-path.js";

export class ServiceLowering {
  readonly #context: LowerContext;
  readonly #messages: MessageLowering;
  readonly services = new Map<string, ProtoService>();
  /** The arguments of constructors by service. */
  readonly constructors = new Map<string, ProtoMessage>();

  constructor(surroundings: LowerContext, messages: MessageLowering) {
    this.#context = surroundings;
    this.#messages = messages;
  }

  add(actor: ActorDeclaration, { path: module }: Module): void {
    const { name, id, doc, at, args } = actor;
    const wanted = pascalCase(name);
    const names = this.#context.names.of(module);
    const service = names.claim(serviceName(wanted), `the service of ${name} of ${module}`, at);
    const full = names.fullName(service);
    const place: NamePath = {
      ...{ name: wanted, enumName: wanted, isClaimed: false, path: name, lockModule: module, module, doc, at },
      args: new Map(),
    };
    this.#messages.noteOrigin(full, place);
    this.#context.files.add(full, "services", module);
    // The endpoint of each method name.
    const taken = new Map<string, string>();
    const methods = actor.endpoints.map((endpoint) => this.#method(endpoint, service, place, taken));
    this.services.set(full, { name: full, id, methods });
    const spawned = { ...place, path: `${name}()` };
    const fields = this.#arguments(args, spawned, `${full}.constructor`);
    const reserved = this.#context.tombstones.reservedOfArguments(name, 0, module, namesInUse(fields));
    this.constructors.set(full, { name: `${full}.constructor`, fields, ...(reserved && { reserved }) });
  }

  #method(endpoint: Endpoint, service: string, actor: NamePath, taken: Map<string, string>): ProtoMethod {
    const { name, id, doc, at, params, result, stream, options } = endpoint;
    const names = this.#context.names.of(actor.module);
    const method = this.#methodName(endpoint, service, actor, taken);
    const place = {
      ...namePathBelow(actor, memberStep(name, at)),
      name: actor.name + method,
      enumName: actor.name + method,
    };
    const what = `${actor.path}.${name} of ${actor.module}`;
    const request = this.#claimed(`${service}${method}Request`, `the request of ${what}`, place);
    const response = this.#claimed(`${service}${method}Response`, `the response of ${what}`, place);
    this.#messages.noteOrigin(`${names.fullName(service)}.${method}`, { ...place, doc });
    return {
      name: method,
      id,
      // The first parameter of a `@respond` endpoint is its port; the answer is sent to it.
      request: this.#messages.define("request", request, (_, full) => {
        const fields = this.#arguments(options.respond ? params.slice(1) : params, place, full);
        const reserved = this.#context.tombstones.reservedOfArguments(
          actor.path,
          id,
          actor.lockModule,
          namesInUse(fields),
        );
        return { name: full, fields, ...(reserved && { reserved }) };
      }),
      response: this.#messages.define("response", response, (_, full) => {
        if (result === undefined) return { name: full, fields: [] };
        const field: MessageField = {
          ...{ property: "result", name: "result", jsonName: "result", number: 1 },
          ...elementForm(result, false, this.#context.index),
        };
        const here = namePathBelow(place, { name: "Result", path: "->" });
        return { name: full, fields: this.#messages.fields([{ field, type: result, place: here }], full) };
      }),
      stream,
      ...(options.idempotent && { idempotent: true }),
    };
  }

  /**
   * Returns the method's name. Names of endpoints that differ only in capitals and underscores are equal in protobuf
   * and clash.
   */
  #methodName(
    { name, wireName, at }: Endpoint,
    service: string,
    { path: actor, module }: NamePath,
    taken: Map<string, string>,
  ): string {
    const wanted = pascalCase(wireName ?? name);
    let method = wanted;
    for (let i = 2; taken.has(method); i++) method = `${wanted}${i}`;
    if (method !== wanted) {
      const names = this.#context.names.of(module);
      names.clash(`${service}.${wanted}`, `${actor}.${taken.get(wanted)}`, `${actor}.${name}`, at);
    }
    taken.set(method, name);
    return method;
  }

  #claimed(name: string, what: string, place: NamePath): NamePath {
    return {
      ...place,
      name: this.#context.names.of(place.module).claim(name, what, place.at),
      isClaimed: true,
      doc: "",
    };
  }

  #arguments(params: readonly Parameter[], place: NamePath, full: string): readonly ProtoField[] {
    const members = fieldsOfParameters(params, this.#context.index).map((field): MemberAtPath => {
      const { name, type, at } = findMember(params, field);
      return { field, type, place: namePathBelow(place, memberStep(name, at)) };
    });
    return this.#messages.fields(members, full);
  }
}
