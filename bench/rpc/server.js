/** A server process: `node server.js <peer> <address>`; prints a line when it is ready. */
const [, , peer, address] = process.argv;
const { serve } = await import(`./peers/${peer}.js`);
await serve(address);
process.stdout.write("ready\n");
