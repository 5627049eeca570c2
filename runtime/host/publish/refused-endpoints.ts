/**
 * The endpoints that other programs cannot call: those whose arguments or results can contain handles. A handle refers
 * to a process or to memory of one program, and the processes of two programs have no links to each other.
 */
import { findHandle, type HandlePath } from "../../../shared/protobuf/find-handle.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import type { EndpointInterceptor } from "../../wire/endpoint-interceptor.js";
import { describeActor } from "../../wire/protobuf/describe-schema.js";

const known = new WeakMap<ActorDescriptor, ReadonlyMap<EndpointDescriptor, string>>();

/** Returns why endpoints of an interface cannot be called by other programs. Endpoints that can be called are absent. */
export function refusedEndpoints(descriptor: ActorDescriptor): ReadonlyMap<EndpointDescriptor, string> {
  let refused = known.get(descriptor);
  if (refused === undefined) {
    refused = findRefused(descriptor);
    known.set(descriptor, refused);
  }
  return refused;
}

function findRefused(descriptor: ActorDescriptor): Map<EndpointDescriptor, string> {
  const schema = describeActor(descriptor);
  const methods = schema.services.get(descriptor.service)?.methods ?? [];
  const refused = new Map<EndpointDescriptor, string>();
  for (const endpoint of descriptor.endpoints) {
    const method = methods.find(({ id }) => id === endpoint.id);
    const why = [
      ...(method === undefined ? [] : [...place("arguments", findHandle(method.request, schema))]),
      ...(method === undefined ? [] : [...place("result", findHandle(method.response, schema))]),
    ];
    if (why.length === 0 && endpoint.interceptor !== undefined) why.push("it takes part in operations on tensors");
    if (why.length === 0) continue;
    const what = `cannot call ${descriptor.name}.${endpoint.name} of another program: ${why.join(", and ")}`;
    refused.set(endpoint, `${what}; handles have a meaning in one program only`);
  }
  return refused;
}

function place(what: string, found: HandlePath | undefined): string[] {
  if (found === undefined) return [];
  return [`its ${what} can contain a ${found.handle}${found.path === "" ? "" : ` at ${found.path}`}`];
}

/**
 * Returns what refuses every message of an endpoint before its arguments are decoded: an interceptor, of which receivers
 * use this method only.
 */
export function refusingInterceptor(why: string): EndpointInterceptor {
  const refusing: Pick<EndpointInterceptor, "decodeArguments"> = {
    decodeArguments() {
      throw new TypeError(why);
    },
  };
  return refusing as EndpointInterceptor;
}
