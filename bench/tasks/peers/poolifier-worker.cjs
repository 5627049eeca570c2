/** A thread or a process of Poolifier's pools. It is CommonJS: a process that loads a module later misses the first message of the pool. */
const cluster = require("node:cluster");
const { ClusterWorker, ThreadWorker } = require("poolifier");
const functions = require("./functions.cjs");

module.exports = cluster.isWorker ? new ClusterWorker({ ...functions }) : new ThreadWorker({ ...functions });
