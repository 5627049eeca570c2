/** Simulates the death of a process in tests without processes: it sends, receives and reaches nothing more. */
import { DeliveryError } from "../../runtime/link/errors.js";
import type { TestProc, World } from "../actor/world.js";

export function kill(world: World, { proc }: TestProc): void {
  world.unreachable.add(proc.location);
  proc.routes.linkTo = () => {
    throw new DeliveryError("closed", "this process has ended");
  };
  for (const link of proc.routes.allLinks()) link.outbox.end();
  for (const link of proc.routes.allLinks()) link.destroy(new Error("killed"));
  for (const pipe of world.pipesOf(proc.location)) pipe.destroy(new Error("killed"));
}
