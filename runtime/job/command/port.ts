/**
 * `viceroy job port`: makes a port of a host reachable at this machine, until this command is ended. The bytes go from this machine to the address that the
 * host has for drivers, so it works for all providers, and where the driver itself works.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { errorMessage } from "../../../shared/text/error-message.js";
import { PipeStream } from "../../link/transport/pipe-stream.js";
import { attach } from "../attach.js";
import { type Job, providerOfJob } from "../job.js";
import type { DialHost } from "../kernel.js";
import { formatPlace } from "../mesh-spec.js";
import { checkedMesh } from "./checked-mesh.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";

/** The address at which this command listens: nobody else can connect to it. */
const loopback = "127.0.0.1";

/** The exit code if nothing of the job runs. */
const nothingRuns = 1;

/** A port here, and the one to which it leads. */
export interface PortPair {
  /** 0 for a free one. */
  readonly here: number;
  readonly there: number;
}

/** Reads `8080`, `9000:8080` or `0:8080`. @throws RangeError */
export function parsePorts(text: string): PortPair {
  const [, first = "", second = first] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text) ?? [];
  const pair = { here: Number(first), there: Number(second) };
  if (first !== "" && pair.here <= 65_535 && pair.there >= 1 && pair.there <= 65_535) return pair;
  throw new RangeError(
    `cannot forward a port: expected a port of the host from 1 to 65535, or a port here and one there such as 9000:8080, got "${text}"`,
  );
}

export async function port(job: Job, options: JobCommandOptions, { out, err }: CommandOutput): Promise<number> {
  const { json, rank = 0, command } = options;
  const { here, there } = parsePorts(command[0] ?? "");
  const [mesh] = checkedMesh(job, options.mesh);
  const { hosts } = job.meshes[mesh!]!;
  if (rank >= hosts) {
    throw new RangeError(
      `cannot forward a port of job "${job.name}": expected a rank from 0 to ${hosts - 1}, got ${rank}`,
    );
  }
  const record = await job.find();
  if (record === undefined) {
    err(`job "${job.name}" does not run`);
    return nothingRuns;
  }
  const meshes = await attach(job);
  const place = formatPlace({ mesh: mesh!, rank });
  const host = meshes[mesh!]!.commandsAt(rank).address ?? loopback;
  const dial = await providerOfJob(job).dialPort?.(record.allocation, { mesh: mesh!, rank }, there);
  const failed = (reason: string) => err(`cannot connect to port ${there} of ${place}: ${reason}`);
  const server = dial === undefined ? directServer({ host, port: there }, failed) : dialledServer(dial, failed);
  server.listen(here, loopback);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new Error(
      `cannot listen at ${loopback}:${here}: ${errorMessage(cause)}; give another port here, or 0 for a free one`,
      { cause },
    );
  }
  const local = (server.address() as AddressInfo).port;
  if (json) out(JSON.stringify({ mesh, rank, host, port: there, local: `${loopback}:${local}` }));
  else out(`${loopback}:${local} leads to port ${there} of ${place}, at ${host}`);
  await once(server, "close");
  return 0;
}

/** Returns a server that connects each of its connections to an address. @param failed told why the address cannot be reached */
function directServer(
  target: { readonly host: string; readonly port: number },
  failed: (reason: string) => void,
): Server {
  // Whoever has sent all may still wait for an answer.
  return createServer({ allowHalfOpen: true }, (near: Socket) => {
    const far = connect({ ...target, allowHalfOpen: true });
    far.on("error", (error) => {
      if (far.connecting || far.bytesRead + far.bytesWritten === 0) failed(errorMessage(error));
      near.destroy();
    });
    near.on("error", () => far.destroy());
    near.on("close", () => far.destroy());
    near.pipe(far).pipe(near);
  });
}

/** Returns a server that makes a connection for each of its own. @param failed told why none is made, or why it has ended */
function dialledServer(dial: DialHost, failed: (reason: string) => void): Server {
  return createServer({ allowHalfOpen: true, pauseOnConnect: true }, async (near: Socket) => {
    const giveUp = new AbortController();
    near.on("error", () => {});
    near.on("close", () => giveUp.abort());
    try {
      const far = new PipeStream(await dial(giveUp.signal));
      far.on("error", (error) => {
        if (!near.destroyed) failed(errorMessage(error));
        near.destroy();
      });
      near.on("close", () => far.destroy());
      // Such a connection ends in both directions at once, and whoever has sent all may still wait for an answer.
      near.pipe(far, { end: false });
      far.pipe(near);
      if (near.destroyed) far.destroy();
    } catch (error) {
      if (!giveUp.signal.aborted) failed(errorMessage(error));
      near.destroy();
    }
  });
}
