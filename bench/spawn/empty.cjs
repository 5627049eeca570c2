// The smallest script that answers a message, in a process or in a thread.
const { parentPort } = require("node:worker_threads");

if (parentPort) parentPort.on("message", (message) => parentPort.postMessage(message));
else process.on("message", (message) => process.send(message));
