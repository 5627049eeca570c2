/** The Connect service of an actor interface: what clients in other languages call. */
import { create, createFileRegistry, type DescFile, type DescService, type Registry } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import {
  type ActorDescriptor,
  type ActorMesh,
  describeActor,
  descriptorOf,
  type EndpointDescriptor,
} from "../index.js";
import { fileDescriptors } from "./file-descriptor.js";

const wellKnownFiles: readonly DescFile[] = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

export interface ConnectService {
  /** For `createClient(service, …)` and `router.service(service, …)` of Connect, and for reflection. */
  readonly service: DescService;
  /** All types that its requests and answers are made of. */
  readonly registry: Registry;
  /** What each method calls, by the method's name. */
  readonly endpoints: ReadonlyMap<string, EndpointDescriptor>;
}

const services = new WeakMap<ActorDescriptor, ConnectService>();

/**
 * The service of an actor: a unary method for each endpoint that returns, a server-streaming one for each
 * `Stream<T>`. Made once for each interface.
 * @param of the generated class, `CounterActor`, or a mesh
 */
export function connectService(of: ActorMesh | { readonly descriptor: ActorDescriptor }): ConnectService {
  const actor = descriptorOf(of);
  const known = services.get(actor) ?? makeService(actor);
  services.set(actor, known);
  return known;
}

function makeService(actor: ActorDescriptor): ConnectService {
  const { messages, ...rest } = describeActor(actor);
  // Nobody constructs actors from outside; protobuf has no place for a message of this name.
  const called = [...messages].filter(([name]) => name !== `${actor.service}.constructor`);
  const schema = { ...rest, messages: new Map(called) };
  const files = fileDescriptors(schema).map((file) => create(FileDescriptorProtoSchema, file));
  const set = create(FileDescriptorSetSchema, { file: [...wellKnownFiles.map(({ proto }) => proto), ...files] });
  const registry = createFileRegistry(set);
  const described = [...schema.services.values()].find(({ id }) => id === actor.id);
  const service = described && registry.getService(described.name);
  if (service === undefined) throw new Error(`cannot serve ${actor.name}: its description has no service of its own`);
  const byId = new Map(actor.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const endpoints = new Map(described?.methods.map(({ name, id }) => [name, byId.get(id)!]));
  return { service, registry, endpoints };
}
