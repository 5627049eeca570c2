/** A server process: `node server.js <peer> <plan>`; prints its port when it is ready. */
import { endWithParent } from "../harness/child.js";

const [, , peer, plan] = process.argv;
const { serve } = await import(`./peers/${peer}.js`);
const port = await serve(JSON.parse(plan));
endWithParent();
process.stdout.write(`${port}\n`);
