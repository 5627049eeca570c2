/** A server process: `node server.js <peer> <address>`; prints a line when it is ready. */
import { endWithParent } from "../harness/child.js";

const [, , peer, address] = process.argv;
const { serve } = await import(`./peers/${peer}.js`);
await serve(address);
endWithParent();
process.stdout.write("ready\n");
