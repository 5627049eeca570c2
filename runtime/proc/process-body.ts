/** A process of the operating system as the body of a proc. */
import { hex64 } from "../link/address.js";
import { childPipe } from "../link/unix/pipe.js";
import { makeExtent } from "../shape/extent.js";
import type { Body, Identity } from "./body.js";
import { describeEnd } from "./end.js";
import { type LaunchOptions, launch } from "./launch.js";

export interface ProcessOptions extends Omit<LaunchOptions, "command"> {
  readonly bootFile: string;
  readonly identity: Identity;
}

export function processBody(options: ProcessOptions): Body {
  const command = [options.bootFile, ...identityArguments(options.identity), options.label];
  const { pid, socket, exited, ended, ref, kill } = launch({ ...options, command });
  return {
    pipe: childPipe(socket),
    ended: exited.then((end) => describeEnd(pid, end)),
    finished: ended,
    ref,
    terminate: () => kill("SIGTERM"),
    kill: () => kill("SIGKILL"),
  };
}

/** The first arguments of the boot file. One more, the label, is for people who look at a list of processes. */
export function identityArguments(identity: Identity): [string, string] {
  const { universe, id, parent, rank, extent, runDir, launcher, host } = identity;
  const sizes = Object.entries(extent).map(([name, size]) => `${name}=${size}`);
  const hosted = [launcher === undefined ? "" : hex64(launcher), host ?? ""];
  return [[hex64(universe), hex64(id), hex64(parent), String(rank), sizes.join(","), ...hosted].join(":"), runDir];
}

/** What `identityArguments` wrote. */
export function parseIdentity(argument: string | undefined, runDir: string | undefined): Identity | undefined {
  const match = /^([\da-f]{16}):([\da-f]{16}):([\da-f]{16}):(\d+):([\w=,]*):((?:[\da-f]{16})?):(.*)$/.exec(
    argument ?? "",
  );
  if (match === null || runDir === undefined) return undefined;
  const [, universe, id, parent, rank, sizes = "", launcher, host] = match;
  const entries = sizes === "" ? [] : sizes.split(",").map((size) => size.split("=") as [string, string]);
  return {
    universe: BigInt(`0x${universe}`),
    id: BigInt(`0x${id}`),
    parent: BigInt(`0x${parent}`),
    rank: Number(rank),
    extent: makeExtent(entries.map(([name, size]) => [name, Number(size)])),
    runDir,
    ...(launcher ? { launcher: BigInt(`0x${launcher}`) } : {}),
    ...(host ? { host } : {}),
  };
}
