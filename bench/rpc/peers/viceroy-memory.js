/** Viceroy with links in shared memory, which processes of one host use when the addon has been built. */
process.env.VICEROY_LINKS = "memory";

export { start } from "./viceroy.js";
