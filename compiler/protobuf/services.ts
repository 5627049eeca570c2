/** Services: one for every actor, a method for every endpoint, and messages for what goes there and back. */
import type { ProtoField, ProtoMessage, ProtoMethod, ProtoService } from "../../schemas/protobuf/descriptor.js";
import { pascalCase, serviceName } from "../../schemas/protobuf/names.js";
import type { ActorDeclaration, Endpoint, Module, Parameter } from "../model/schema.js";
import { find, inUseOf, type Member, type Messages, type Surroundings } from "./messages.js";
import { below, memberStep, type Place } from "./place.js";
import { elementForm, fieldsOfParameters, type MessageField } from "./position.js";

export class Services {
  readonly #with: Surroundings;
  readonly #to: Messages;
  readonly services = new Map<string, ProtoService>();
  /** The arguments of constructors, by service. */
  readonly constructors = new Map<string, ProtoMessage>();

  constructor(surroundings: Surroundings, messages: Messages) {
    this.#with = surroundings;
    this.#to = messages;
  }

  add(actor: ActorDeclaration, { path: module }: Module): void {
    const { name, id, doc, at, args } = actor;
    const wanted = pascalCase(name);
    const service = this.#with.names.claim(serviceName(wanted), `the service of ${name} of ${module}`, at);
    const full = this.#with.names.full(service);
    const place: Place = {
      ...{ name: wanted, enumName: wanted, isClaimed: false, path: name, lockModule: module, module, doc, at },
      args: new Map(),
    };
    this.#to.note(full, place);
    this.#with.files.add(full, "services", module);
    // By name: the endpoint that each is for.
    const taken = new Map<string, string>();
    const methods = actor.endpoints.map((endpoint) => this.#method(endpoint, service, place, taken));
    this.services.set(full, { name: full, id, methods });
    const spawned = { ...place, path: `${name}()` };
    const fields = this.#arguments(args, spawned, `${full}.constructor`);
    const reserved = this.#with.tombstones.ofArguments(name, 0, module, inUseOf(fields));
    this.constructors.set(full, { name: `${full}.constructor`, fields, ...(reserved && { reserved }) });
  }

  #method(endpoint: Endpoint, service: string, actor: Place, taken: Map<string, string>): ProtoMethod {
    const { name, id, doc, at, params, result, stream, options } = endpoint;
    const method = this.#methodName(endpoint, service, actor.path, taken);
    const place = { ...below(actor, memberStep(name, at)), name: actor.name + method, enumName: actor.name + method };
    const what = `${actor.path}.${name} of ${actor.module}`;
    const request = this.#claimed(`${service}${method}Request`, `the request of ${what}`, place);
    const response = this.#claimed(`${service}${method}Response`, `the response of ${what}`, place);
    this.#to.note(`${this.#with.names.full(service)}.${method}`, { ...place, doc });
    return {
      name: method,
      id,
      // What is sent to the port of `@respond` is the answer.
      request: this.#to.define("request", request, (_, full) => {
        const fields = this.#arguments(options.respond ? params.slice(1) : params, place, full);
        const reserved = this.#with.tombstones.ofArguments(actor.path, id, actor.lockModule, inUseOf(fields));
        return { name: full, fields, ...(reserved && { reserved }) };
      }),
      response: this.#to.define("response", response, (_, full) => {
        if (result === undefined) return { name: full, fields: [] };
        const field: MessageField = {
          ...{ property: "result", name: "result", jsonName: "result", number: 1 },
          ...elementForm(result, false, this.#with.index),
        };
        const here = below(place, { name: "Result", path: "->" });
        return { name: full, fields: this.#to.fields([{ field, type: result, place: here }], full) };
      }),
      stream,
      ...(options.idempotent && { idempotent: true }),
    };
  }

  /** Endpoints whose names differ in capitals and underscores alone have one name in protobuf. */
  #methodName({ name, wireName, at }: Endpoint, service: string, actor: string, taken: Map<string, string>): string {
    const wanted = pascalCase(wireName ?? name);
    let method = wanted;
    for (let i = 2; taken.has(method); i++) method = `${wanted}${i}`;
    if (method !== wanted) {
      const clash = {
        name: `${service}.${wanted}`,
        first: `${actor}.${taken.get(wanted)}`,
        second: `${actor}.${name}`,
        at,
      };
      this.#with.names.clashes.push({ kind: "type", ...clash });
    }
    taken.set(method, name);
    return method;
  }

  #claimed(name: string, what: string, place: Place): Place {
    return { ...place, name: this.#with.names.claim(name, what, place.at), isClaimed: true, doc: "" };
  }

  #arguments(params: readonly Parameter[], place: Place, full: string): readonly ProtoField[] {
    const members = fieldsOfParameters(params, this.#with.index).map((field): Member => {
      const { name, type, at } = find(params, field);
      return { field, type, place: below(place, memberStep(name, at)) };
    });
    return this.#to.fields(members, full);
  }
}
