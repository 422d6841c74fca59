"""A headless Chromium, told what to do over a pipe: pages are opened, looked at and asked what they have loaded."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time

WAIT_SECONDS = 30
# A browser that has nothing to say for so long has hung.
SILENCE_SECONDS = 120


class Browser:
    """One browser with a profile of its own; `requests` are the addresses that its pages have asked for, `problems`
    what their scripts have complained about."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()

        def at_three_and_four():
            # By way of high numbers: either end may be 3 or 4 already.
            for end, number in ((os.dup2(to_browser, 13), 3), (os.dup2(from_browser, 14), 4)):
                os.dup2(end, number)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
             "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=at_three_and_four, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.session, self.left = 0, None, b""
        self.requests, self.problems, self.loaded = [], [], False
        try:
            self.attach()
        except BaseException:
            self.close()
            raise

    def attach(self):
        """Takes the page that the browser begins with."""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.writing)
        os.close(self.reading)
        self.process.terminate()
        try:
            self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        """What the browser answers."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def next_message(self):
        while b"\0" not in self.left:
            if not select.select([self.reading], [], [], SILENCE_SECONDS)[0]:
                raise RuntimeError(f"the browser has said nothing for {SILENCE_SECONDS} s")
            part = os.read(self.reading, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.left += part
        text, self.left = self.left.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, said = message.get("method"), message.get("params")
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(said["entry"]["text"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def look(self, width, height, dark=False):
        """The size of the window, and whether the system is dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        self.loaded = False
        failed = self.call("Page.navigate", url=address).get("errorText")
        if failed:
            raise RuntimeError(f"{address}: {failed}")
        while not self.loaded:
            self.next_message()

    def ask(self, script):
        """The value of an expression of the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def eventually(self, script):
        """The value of the expression once it is true."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            value = self.ask(script)
            if value:
                return value
            if time.monotonic() > end:
                raise RuntimeError(f"not within {WAIT_SECONDS} s: {script}")
            self.ask("new Promise((done) => { setTimeout(done, 50); })")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
