/** Starts proxies (make-proxy.ts), each for one test. */
import { afterEach } from "vitest";
import { makeProxy, type Network } from "./make-proxy.js";

const made: Network[] = [];
afterEach(() => {
  for (const proxy of made.splice(0)) proxy.close();
});

export async function startProxy(target: string): Promise<Network> {
  const proxy = await makeProxy(target);
  made.push(proxy);
  return proxy;
}
