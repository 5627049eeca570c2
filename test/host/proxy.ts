/** Networks between drivers and hosts (make-proxy.ts), each for one test. */
import { afterEach } from "vitest";
import { makeProxy, type Proxy } from "./make-proxy.js";

const made: Proxy[] = [];
afterEach(() => {
  for (const proxy of made.splice(0)) proxy.close();
});

export async function startProxy(target: string): Promise<Proxy> {
  const proxy = await makeProxy(target);
  made.push(proxy);
  return proxy;
}
