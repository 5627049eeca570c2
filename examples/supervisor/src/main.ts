/** Workers that break down, an owner that copes with it, and what happens when it no longer can. */
import { onUnhandledFault, SupervisionError, thisHost } from "viceroy";
import type { BakeryMesh } from "../generated/bakery.js";
import "../generated/registry.js";
import { VillageBakery } from "./village-bakery.js";

const fault = new Promise<void>((resolve) => {
  // Without a hook, a failure that nobody handled is printed and ends the program with code 1.
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

await day("Monday", bakery, ["rye", "oat", "spelt", "rye", "oat", "stone", "rye", "oat", "spelt"]);
await day("Tuesday", bakery, ["rye", "oat", "spelt", "rye", "oat", "spelt", "rye", "oat", "spelt"]);
await fault;

async function day(name: string, bakery: BakeryMesh, orders: string[]): Promise<void> {
  console.log(`${name}: ${orders.length} orders`);
  try {
    for (const { order, result } of await bakery.bake.callOne(orders)) console.log(`  ${order.padEnd(5)}  ${result}`);
    for (const line of await bakery.news.callOne()) console.log(`  ! ${line}`);
  } catch (error) {
    if (!(error instanceof SupervisionError)) throw error;
    console.log("  the bakery is closed: the call to it was rejected at once");
  }
}
