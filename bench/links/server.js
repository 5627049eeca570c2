/** A server process: `node server.js <bundle> <kind> <address>`; prints a line when clients can connect. */
import { endWithParent } from "../harness/child.js";

const [, , bundle, kind, address] = process.argv;
const { serve } = await import(bundle);
await serve(kind, address);
endWithParent();
process.stdout.write("ready\n");
