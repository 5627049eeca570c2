/**
 * Many daemons of hosts in one process, for `daemons.ts`: each listens at a port of its own, and its processes keep code in a folder of
 * their own. Arguments: the number of daemons, the folder, and the token. It prints the addresses as JSON.
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { HostListener } from "../../runtime/host/daemon/host-listener.js";
import { makeMachine } from "../../runtime/host/daemon/node-machine.js";
import { systemClock, systemRandom } from "../../runtime/link/clock.js";
import { connectSocket, listenAt } from "../../runtime/link/transport/connect.js";
import { formatNetworkAddress } from "../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { makeNodePlatform } from "../../runtime/proc/platform/node-platform.js";
import type { ScopedPlatform, StartRequest } from "../../runtime/proc/platform/platform.js";

const [, , count = "200", folder = "", token = ""] = process.argv;

/** Makes a platform whose processes have a folder of their own. */
function platformIn(cache: string): ScopedPlatform {
  const platform = makeNodePlatform();
  const start = platform.start.bind(platform);
  return Object.assign(platform, {
    start: (request: StartRequest) => start({ ...request, env: { ...request.env, XDG_CACHE_HOME: cache } }),
  });
}

async function startDaemon(index: number): Promise<string> {
  const cache = path.join(folder, `cache-${index}`);
  mkdirSync(cache, { mode: 0o700 });
  const pipes: ((pipe: Pipe, peer?: string) => void)[] = [];
  const { address } = await listenAt({ kind: "tcp", host: "127.0.0.1", port: 0 }, (pipe, peer) =>
    pipes[0]!(pipe, peer),
  );
  const listener = new HostListener({
    clock: systemClock,
    random: systemRandom,
    hostname: `host-${index}`,
    proof: { token },
    addresses: [address],
    platform: () => platformIn(cache),
    connectSocket,
    machine: makeMachine(),
  } as ConstructorParameters<typeof HostListener>[0]);
  pipes.push((pipe, peer) => listener.accept("tcp", pipe, peer));
  return formatNetworkAddress(address);
}

const addresses: string[] = [];
for (let index = 0; index < Number(count); index++) addresses.push(await startDaemon(index));
console.log(JSON.stringify(addresses));
setInterval(() => {}, 1 << 30);
