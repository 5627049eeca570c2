/** Tests of the environment variable that names the driver gateway. Drivers that use it are in `ingress.test.ts`. */
import { attachHosts } from "viceroy";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { gatewayUrlFrom } from "../../../runtime/host/attached/gateway-url.js";
import { Authority } from "../../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";
import { startWebSocketHost } from "./websocket-hosts.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});
afterEach(() => vi.unstubAllEnvs());

test("a variable that is not set, or empty, names no gateway", () => {
  expect(gatewayUrlFrom({})).toBeUndefined();
  expect(gatewayUrlFrom({ VICEROY_API_URL: "" })).toBeUndefined();
  expect(gatewayUrlFrom({ VICEROY_API_URL: "wss://me:secret@gateway.example.com/x" })).toBe(
    "wss://me:secret@gateway.example.com/x",
  );
});

test.each([
  ["https://gateway.example.com", "expected wss://host/path or ws://host:port/path"],
  ["tls://n1:26600", "expected wss://host/path or ws://host:port/path"],
  ["wss://", 'cannot read the URL "wss://": expected wss://host/path or ws://host:port/path'],
  ["wss://me:secret@", 'cannot read the URL "wss://…@": expected wss://host/path or ws://host:port/path'],
])("a value that is no URL of a WebSocket is refused with the name of the variable: %s", (url, why) => {
  vi.stubEnv("VICEROY_API_URL", url);
  expect(() => attachHosts(["tcp://n1"])).toThrow(
    new TypeError(
      `cannot attach hosts: the variable VICEROY_API_URL is no URL of a driver gateway: ${why}; correct it, or remove it ` +
        "from the environment",
    ),
  );
});

test("hosts of this machine at Unix sockets are reached without the gateway", async () => {
  vi.stubEnv("VICEROY_API_URL", "wss://nowhere.invalid/x");
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  await hosts.ready;
});

test("any host of the job may answer at the URL, as behind a load balancer, and no other process", async () => {
  const authority = new Authority();
  const issue = (name: string) => authority.issue(name.replaceAll("/", "-"), 1, `URI:viceroy://${name}`);
  const args = (name: string) => {
    const { cert, key, ca } = issue(name);
    return ["--cert", cert, "--key", key, "--ca", ca];
  };
  const tls = issue("job/driver");
  try {
    const [gateway, one, stranger] = await Promise.all([
      startWebSocketHost("tls://127.0.0.1:0", args("job/hosts/workers/3")),
      startHost("tls://127.0.0.1:0", args("job/hosts/workers/0")),
      startWebSocketHost("tls://127.0.0.1:0", args("other/hosts/workers/3")),
    ]);
    vi.stubEnv("VICEROY_API_URL", gateway.url);
    await using hosts = attachPatiently([one.address], { tls });
    const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
    expect(await workers.echo.callOne("inside")).toBe("inside");
    vi.stubEnv("VICEROY_API_URL", stranger.url);
    await using refused = attachHosts([one.address.replace("workers/0", "workers/1")], { tls });
    await expect(refused.ready).rejects.toThrow(
      "another process answers at the address: expected a host of the job of this process, got URI:viceroy://other/hosts/workers/3",
    );
  } finally {
    authority.remove();
  }
});
