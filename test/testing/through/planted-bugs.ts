/** Bugs of drivers behind gateways, each planted by replacing a method. `npm run sim -- --workload through --planted` prints the seeds. */
import { Mailbox } from "../../../runtime/actor/cell/mailbox.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { HostWatcher } from "../../../runtime/host/attached/host-watcher.js";
import { WatchingProcesses } from "../../../runtime/host/daemon/watching-processes.js";
import { TunnelDialler } from "../../../runtime/link/tunnel/dial.js";
import { ProcRuntime } from "../../../runtime/proc/agent/proc-runtime.js";
import { call, replaceMethod, skipEvery } from "../plant-bug.js";
import type { PlantedBug } from "../workload.js";
import type { Invariant } from "./invariants.js";

type Method = (this: never, ...args: never[]) => unknown;

export const bugs: readonly PlantedBug<Invariant>[] = [
  {
    name: "a gateway that ends tells the hosts that the driver has ended",
    noticedBy: ["kept"],
    seed: 3,
    ...replaceMethod(ProcRuntime, "tellsHosts", () => (() => true) as Method),
  },
  {
    name: "a host believes a gateway that the driver has left",
    noticedBy: ["kept"],
    seed: 22,
    ...replaceMethod(WatchingProcesses, "leave", () => (() => false) as Method),
  },
  {
    name: "no process watches the hosts after the loss of a gateway",
    noticedBy: ["kept"],
    seed: 2,
    ...skipEvery(HostWatcher, "restart", 1),
  },
  {
    name: "a gateway that is lost is final for the links through it",
    noticedBy: ["kept"],
    seed: 1,
    ...replaceMethod(
      TunnelDialler,
      "connect",
      (original) =>
        async function (this: unknown, ...args: unknown[]) {
          try {
            return await call(original, this, args);
          } catch (error) {
            throw Object.defineProperty(error as Error, "isTransient", { value: false });
          }
        } as Method,
    ),
  },
  {
    name: "a message is handled twice",
    noticedBy: ["once"],
    seed: 1,
    ...replaceMethod(
      Mailbox,
      "add",
      (original, every) =>
        function (this: Mailbox, turn: Turn) {
          call(original, this, [turn]);
          if (turn.call === 0 && every(20)) call(original, this, [turn]);
        } as Method,
    ),
  },
];
