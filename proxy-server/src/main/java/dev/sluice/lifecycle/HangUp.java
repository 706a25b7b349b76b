package dev.sluice.lifecycle;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SIGHUP, which ends a process that does not take it, as a wish to read the files again. Safe for
 * all threads.
 */
public final class HangUp {
  /*
   * By reflection: the compiler warns of every mention of sun.misc.Signal, and that warning cannot
   * be suppressed. The package is exported to all (module jdk.unsupported) and has no other way in
   * its place. A platform without the signal, or a JVM that was told to leave signals alone (-Xrs),
   * refuses it.
   */
  private static final Logger LOG = LoggerFactory.getLogger(HangUp.class);

  private @Nullable Runnable reaction;
  private boolean waiting;

  /** Takes the signal from now on, where the platform has it. Never throws. */
  public void install() {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object receiver =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "handle" -> {
                      received();
                      yield null;
                    }
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "SIGHUP";
                  });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), receiver);
    } catch (InvocationTargetException e) {
      unavailable(e.getCause() == null ? e : e.getCause());
    } catch (ReflectiveOperationException | RuntimeException e) {
      unavailable(e);
    }
  }

  private static void unavailable(Throwable why) {
    LOG.warn("SIGHUP: not taken here, {}; a change of the files is", why.toString());
  }

  /** Runs this at each signal, on a thread of the JVM's; at once where one has come before. */
  synchronized void runs(Runnable next) {
    reaction = next;
    if (waiting) {
      waiting = false;
      next.run();
    }
  }

  synchronized void received() {
    if (reaction == null) {
      waiting = true;
    } else {
      reaction.run();
    }
  }
}
