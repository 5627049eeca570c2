// The smallest ES module that answers a message.
process.on("message", (message) => process.send(message));
