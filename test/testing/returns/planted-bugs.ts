/** Bugs of hosts that come back, each planted by replacing a method. `npm run sim -- --workload returns --planted` prints the seeds. */
import { AttachedHost } from "../../../runtime/host/attached/attached-host.js";
import { HostReturns } from "../../../runtime/host/attached/host-returns.js";
import { replaceMethod } from "../plant-bug.js";
import type { PlantedBug } from "../workload.js";
import type { Invariant } from "./invariants.js";

type Method = (this: never, ...args: never[]) => unknown;

export const bugs: readonly PlantedBug<Invariant>[] = [
  {
    name: "ranks do not wait for their lost host, and use up their restart",
    noticedBy: ["no restart"],
    seed: 1,
    ...replaceMethod(AttachedHost, "comeback", () => (() => undefined) as Method),
  },
  {
    name: "the wait for a lost host never ends",
    noticedBy: ["told", "calls end"],
    seed: 2,
    ...replaceMethod(
      HostReturns,
      "waitFor",
      (original) =>
        function (this: HostReturns<never>, number: number) {
          const wait = Reflect.apply(original, this, [number as never]) as Promise<void> | undefined;
          return wait?.catch(() => new Promise<void>(() => {}));
        } as Method,
    ),
  },
];
