/** The Connect service of an actor interface, which the gateway serves and clients call. It runs in browsers, too. */
import type { DescService, FileRegistry } from "@bufbuild/protobuf";
import { findHandle } from "../../shared/protobuf/find-handle.js";
import type { ProtoMethod, ProtoSchema } from "../../shared/protobuf/proto-schema.js";
import { type ActorDescriptor, describeActor, type EndpointDescriptor } from "../codegen/v1/index.js";
import { createTypeRegistry } from "./type-registry.js";

/** The protobuf service of an actor interface. */
export interface ConnectService {
  /**
   * The description of the service, for `createClient(service, …)` and `router.service(service, …)` of Connect, and for
   * reflection.
   */
  readonly service: DescService;
  /** The types of its requests and answers. */
  readonly registry: FileRegistry;
  /** The endpoint of each method, by the name of the method. */
  readonly endpoints: ReadonlyMap<string, EndpointDescriptor>;
  /**
   * The reasons why methods are not served, by the name of the method: their requests or answers can contain handles.
   */
  readonly refused: ReadonlyMap<string, string>;
}

const services = new WeakMap<ActorDescriptor, ConnectService>();

/** Returns the service of an actor interface. The result is the same object for the same interface. */
export function serviceOf(actor: ActorDescriptor): ConnectService {
  const known = services.get(actor) ?? createService(actor);
  services.set(actor, known);
  return known;
}

function createService(actor: ActorDescriptor): ConnectService {
  const { messages, ...rest } = describeActor(actor);
  // Clients outside the mesh do not construct actors, and protobuf does not allow a message of this name.
  const called = [...messages].filter(([name]) => name !== `${actor.service}.constructor`);
  const schema = { ...rest, messages: new Map(called) };
  const registry = createTypeRegistry(schema);
  const described = [...schema.services.values()].find(({ id }) => id === actor.id);
  const service = described && registry.getService(described.name);
  if (service === undefined) throw new Error(`cannot serve ${actor.name}: its description has no service of its own`);
  const byId = new Map(actor.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const endpoints = new Map<string, EndpointDescriptor>();
  const refused = new Map<string, string>();
  for (const method of described?.methods ?? []) {
    const endpoint = byId.get(method.id)!;
    endpoints.set(method.name, endpoint);
    const why = refusalReason(method, schema);
    if (why !== undefined) refused.set(method.name, `cannot serve ${actor.name}.${endpoint.name}: ${why}`);
  }
  return { service, registry, endpoints, refused };
}

/**
 * Returns the reason why a method is not served. Handles refer to sockets and memory of the mesh, so they must not pass
 * its boundary in either direction.
 */
function refusalReason({ request, response }: ProtoMethod, schema: ProtoSchema): string | undefined {
  const taken = findHandle(request, schema);
  const given = findHandle(response, schema);
  if (taken === undefined && given === undefined) return undefined;
  const held = [
    ...(taken === undefined ? [] : [`its request can hold a ${taken.handle} at ${taken.path}`]),
    ...(given === undefined ? [] : [`its answer can hold a ${given.handle} at ${given.path}`]),
  ];
  return `${held.join(", and ")}; handles mean something inside a running mesh alone`;
}
