/** Workers that fail, an owner that replaces them, and what happens when the owner cannot replace any more. */
import { onUnhandledFault, SupervisionError, thisHost } from "viceroy";
import type { BakeryMesh } from "../generated/bakery.js";
import "../generated/registry.js";
import { VillageBakery } from "./village-bakery.js";

const fault = new Promise<void>((resolve) => {
  // Without a hook, the runtime prints a failure that no owner has handled, and ends the program with code 1.
  onUnhandledFault((failure) => {
    console.log(`unhandled: ${failure.mesh} failed`);
    for (let cause: unknown = failure.cause; cause instanceof Error; cause = cause.cause) {
      console.log(`  because ${cause.message}`);
    }
    resolve();
  });
});

await using procs = thisHost().spawnProcs({});
const bakery = procs.spawn("bakery", VillageBakery, 3, 1);

await bakeAll("Monday", bakery, ["rye", "oat", "spelt", "rye", "oat", "stone", "rye", "oat", "spelt"]);
await bakeAll("Tuesday", bakery, ["rye", "oat", "spelt", "rye", "oat", "spelt", "rye", "oat", "spelt"]);
await fault;

async function bakeAll(name: string, bakery: BakeryMesh, orders: string[]): Promise<void> {
  console.log(`${name}: ${orders.length} orders`);
  try {
    for (const { order, result } of await bakery.bake.callOne(orders)) console.log(`  ${order.padEnd(5)}  ${result}`);
    for (const line of await bakery.news.callOne()) console.log(`  ! ${line}`);
  } catch (error) {
    if (!(error instanceof SupervisionError)) throw error;
    console.log("  the bakery has failed: the call was rejected at once");
  }
}
