/** Keeps more large values than the process may open files, and prints how many of them are there. */
import { JobContext } from "viceroy/tasks";

const context = await JobContext.open({ procs: 1, isolation: "inline" });
const refs = Array.from({ length: 100 }, (_, i) => context.put(new Uint8Array(100_000).fill(i)));
const values = await context.get(refs);
console.log(values.filter((value, i) => value.length === 100_000 && value[0] === i && value.at(-1) === i).length);
await context.close();
