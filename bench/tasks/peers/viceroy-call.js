/** Calls of actors in other processes, by turns to each of them, or all to one: what a task is made of. */
import { loadDriver } from "../../viceroy/prepare.js";

export async function start(workers, isolation) {
  const { spawnEcho } = await loadDriver();
  const { echo, stop } = spawnEcho(workers, isolation);
  await echo.ready;
  const [one, same] = [[], []];
  for (let i = 0; i < workers; i++) {
    const { one: first, same: second } = echo.slice({ procs: i });
    one.push(first);
    same.push(second);
  }
  let next = 0;
  return {
    nothing: () => one[next++ % workers].callOne(),
    alone: () => one[0].callOne(),
    same: (n) => same[next++ % workers].callOne(n),
    stop,
  };
}
