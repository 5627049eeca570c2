/** The codec of the answers of an endpoint, as that of results. It tells other processes where they find it. */
import type { TaskFunction } from "../../../generated/tasks.js";
import type { EndpointDescriptor } from "../../index.js";
import { currentRuntime } from "../kernel.js";
import type { ValueCodec } from "../refs/value-codec.js";
import { schemaCodec } from "../schema-codec.js";

const known = new WeakMap<EndpointDescriptor, ValueCodec>();

/**
 * @param registry the URL of the registry that has the class of the actor
 * @param classId the id of the class in it
 */
export function endpointCodec(registry: string, classId: string, endpoint: EndpointDescriptor): ValueCodec {
  let codec = known.get(endpoint);
  if (codec === undefined) {
    const task: TaskFunction = { module: registry, name: classId, endpoint: endpoint.name };
    codec = { ...schemaCodec(endpoint.result), task };
    known.set(endpoint, codec);
  }
  return codec;
}

/** Loads the class of an actor in a process that has got a reference to an answer. Rejects if it has no such endpoint. */
export async function loadEndpointCodec({ module, name, endpoint }: TaskFunction): Promise<ValueCodec> {
  const { descriptor } = await currentRuntime().platform.classes.find({ registry: module, id: name });
  const found = descriptor.endpoints.find((each) => each.name === endpoint);
  if (found !== undefined) return endpointCodec(module, name, found);
  throw new Error(`cannot read an answer of ${name}: it has no endpoint ${endpoint}; deploy the same build everywhere`);
}
