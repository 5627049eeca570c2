/** The Connect service of a mesh or of a generated class. */
import { type ConnectService, serviceOf } from "../connect/actor-service.js";
import { type ActorDescriptor, type ActorMesh, descriptorOf } from "../index.js";

export type { ConnectService } from "../connect/actor-service.js";

/**
 * Returns the protobuf service of an actor interface: a unary method for each endpoint, and a server-streaming method
 * for each endpoint that returns `Stream<T>`. The result is the same object for the same interface.
 *
 * @param of a generated class such as `CounterActor`, or a mesh
 */
export function connectService(of: ActorMesh | { readonly descriptor: ActorDescriptor }): ConnectService {
  return serviceOf(descriptorOf(of));
}
