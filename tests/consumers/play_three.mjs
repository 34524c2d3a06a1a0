// Plays every clip of a .glb or .fbx file with three.js: node play_three.mjs FILE OUT.json
// Writes by clip its duration and where each bone is, in the world, 60 times a second and at the end.
import { readFileSync, writeFileSync } from "node:fs";
import { AnimationMixer, LoopOnce, Vector3 } from "three";
import { FBXLoader } from "three/addons/loaders/FBXLoader.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

globalThis.self = globalThis.window = globalThis;
const [file, output] = process.argv.slice(2);
const data = readFileSync(file);
const whole = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
const isFbx = file.toLowerCase().endsWith(".fbx");
const loaded = isFbx ? new FBXLoader().parse(whole, "") : await new GLTFLoader().parseAsync(whole, "");
const scene = isFbx ? loaded : loaded.scene;
const played = {};
for (const clip of loaded.animations) {
  const mixer = new AnimationMixer(scene);
  const action = mixer.clipAction(clip).setLoop(LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const times = Array.from({ length: Math.floor(clip.duration * 60 + 1e-6) + 1 }, (_, k) => k / 60);
  times.push(clip.duration);
  const places = {};
  for (const time of times) {
    action.paused = false;
    action.time = time;
    mixer.update(0);
    scene.updateMatrixWorld(true);
    scene.traverse((node) => {
      if (!node.isBone) return;
      const place = new Vector3().setFromMatrixPosition(node.matrixWorld);
      (places[node.userData.name ?? node.name] ??= []).push(place.toArray());
    });
  }
  mixer.stopAllAction();
  played[clip.name] = { duration: clip.duration, times, places };
}
writeFileSync(output, JSON.stringify(played));
