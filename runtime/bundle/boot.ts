/** What a child process or thread runs; becomes `dist/boot.cjs`. User code comes later, when the link is up. */
import { load } from "./load.js";

load("child").boot.boot();
