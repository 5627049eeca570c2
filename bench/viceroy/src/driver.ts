/** What the benchmarks call: meshes of echo servers, spawned as any user would. */
import { thisHost } from "viceroy";
import type { EchoMesh } from "../generated/echo.js";
import "../generated/registry.js";
import { EchoServer } from "./echo-server.js";

/** `count` processes with one echo server each. */
export function spawnEcho(
  count: number,
  isolation: "process" | "thread" | "inline" = "process",
): {
  readonly echo: EchoMesh<"procs">;
  stop(): Promise<void>;
} {
  const procs = thisHost().spawnProcs({ procs: count }, { isolation });
  return { echo: procs.spawn("echo", EchoServer), stop: () => procs.stop() };
}
