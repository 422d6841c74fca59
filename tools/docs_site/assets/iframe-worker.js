// Browsers start no workers on pages that were opened as files, and the search of the site runs in one. There a
// hidden frame does a worker's work: its scripts are loaded one after the other, and messages go to and fro.
(() => {
  if (location.protocol !== "file:") return;
  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inside.importScripts = (...scripts) => scripts.reduce(
        (before, script) => before.then(() => this.#load(script)), Promise.resolve());
      this.frame = frame;
      this.ready = this.#load(address);
    }

    #load(script) {
      return new Promise((resolve, reject) => {
        const element = this.frame.contentDocument.createElement("script");
        // Against the page, not the frame, whose address is about:blank.
        element.src = new URL(script, document.baseURI).href;
        element.onload = resolve;
        element.onerror = () => reject(new Error(`cannot load ${script}`));
        this.frame.contentDocument.body.append(element);
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        this.frame.contentWindow.dispatchEvent(
          new this.frame.contentWindow.MessageEvent("message", { data: structuredClone(data) }));
      });
    }

    terminate() { this.frame.remove(); }
  }
  // By the second name the theme's search knows that it runs in a frame.
  window.Worker = window.IFrameWorker = FrameWorker;
})();
