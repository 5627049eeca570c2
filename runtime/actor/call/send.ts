/** `send`: calls an endpoint and passes the answers to a port. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { ChannelPort, Port } from "../port/port.js";
import type { Dispatcher } from "./dispatcher.js";
import { dispatcherOf, Endpoint } from "./endpoint.js";
import { startStreamCall } from "./start-call.js";
import { StreamEndpoint } from "./stream-endpoint.js";

/**
 * Calls an endpoint and lets the answers go to a port as they arrive. Use it for protocols that no adverb covers.
 *
 * @param endpoint of a mesh
 * @param args the arguments of the endpoint
 * @param port receives the answer of each actor; its type must be that of the answers
 * @returns an awaitable that resolves when the receivers have credit for the message; it never rejects
 * @throws {TypeError} when `endpoint` is not an endpoint, `port` is not a port or is a port of another type, and
 *   whenever `call` throws
 */
export function send<A extends unknown[], R, D extends string>(
  endpoint: Endpoint<A, R, D>,
  args: A,
  port: Port<R>,
): void {
  const given: unknown = endpoint;
  if (!(given instanceof Endpoint)) {
    const got = given instanceof StreamEndpoint ? `the stream ${String(given)}` : describeValue(given);
    throw new TypeError(`cannot send: expected an endpoint that answers, got ${got}`);
  }
  const to = dispatcherOf(endpoint);
  if (!Array.isArray(args)) {
    throw new TypeError(`cannot call ${to.label}: expected a list of arguments, got ${describeValue(args)}`);
  }
  to.check(args);
  checkPort(to, port);
  const answers = startStreamCall(to, args);
  void (async () => {
    try {
      for await (const [, value] of answers) await port.send(value as R);
    } catch (error) {
      port.exception(error);
    }
  })();
}

/** @throws {TypeError} when the type of the port is not that of the answers */
function checkPort({ label, result }: Dispatcher, port: unknown): void {
  if (!(port instanceof Port)) throw new TypeError(`cannot call ${label}: expected a port, got ${describeValue(port)}`);
  if (result === undefined || !(port instanceof ChannelPort) || port.codec.fingerprint === result.fingerprint) return;
  throw new TypeError(`cannot call ${label}: expected a port of ${result.name}, got a port of ${port.codec.name}`);
}
